import Relay
import RelayWire

/// Keeps which devices an account has, so that those that are away are known after a restart; the port of a store.
public protocol RelayRegister: Sendable {
    /// The devices of an account. May block for as long as a few rows take.
    func devices(of account: [UInt8]) throws -> [KeptDevice]
    /// Keeps a device, which is one of this account and of no other from now on. Returns at once; a power cut may undo it.
    func keep(_ device: KeptDevice, of account: [UInt8])
    /// Keeps a device no more.
    func forget(_ device: String)
}
