import RelayProtocol

/// Storage of accounts' devices, so that those that are away are known after a restart; the port of a store.
package protocol RelayRegister: Sendable {
    /// The devices of an account. May block for as long as a few rows take.
    func devices(of account: [UInt8]) throws -> [StoredDevice]
    /// Stores a device, which belongs only to this account from now on. Returns at once; a power cut may undo it.
    func save(_ device: StoredDevice, of account: [UInt8])
    /// Deletes a device.
    func delete(_ device: String)
}
