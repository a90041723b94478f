import Crypto
import Foundation
import RelayProtocol

/// Other users' devices, which call services that are open to anyone here, or whose services are called from here.
///
/// The server alone vouches for such a device's key. A grant of the user to such a device is bound to that key. A value.
struct OtherUsersDevices {
    /// A request of a client.
    typealias Request = (client: ClientNumber, request: Int64)

    /// The devices that have asked for this one, by id.
    private(set) var guests: [String: RelayDevice] = [:]
    /// The devices that this one has asked for, by id.
    private(set) var hosts: [String: RelayDevice] = [:]
    /// The requests for a device, by its id.
    private var finds: [String: [Request]] = [:]

    /// Whether a device has asked for this one, or this one for it.
    func contains(_ device: String) -> Bool { guests[device] != nil || hosts[device] != nil }

    /// The description of a device; `nil` where it is unknown.
    subscript(device: String) -> RelayDevice? { guests[device] ?? hosts[device] }

    /// Discards all state about a device.
    mutating func forget(_ device: String) {
        guests[device] = nil
        hosts[device] = nil
    }

    /// Discards all state; returns the requests without an answer.
    mutating func forgetAll() -> [Request] {
        guests = [:]
        hosts = [:]
        defer { finds = [:] }
        return finds.values.flatMap { $0 }
    }

    /// A client is gone.
    mutating func forget(_ client: ClientNumber) {
        finds = finds.mapValues { $0.filter { $0.client != client } }.filter { !$0.value.isEmpty }
    }

    // MARK: Devices that this one asks for

    /// Adds a client's request for a device.
    ///
    /// - Returns: Whether it is looked for; otherwise there are too many requests.
    mutating func find(_ device: String, for request: Request) -> Bool {
        guard finds.count < RelayDevice.guestLimit, finds[device, default: []].count < RelayDevice.guestLimit else {
            return false
        }
        finds[device, default: []].append(request)
        return true
    }

    /// The requests for a device; they are removed. `nil` where there are none.
    mutating func takeRequests(for device: String) -> [Request]? { finds.removeValue(forKey: device) }

    /// Adds a device that was found.
    ///
    /// - Returns: Whether it may be asked; otherwise too many are known.
    mutating func addHost(_ device: RelayDevice) -> Bool {
        guard hosts.count < RelayDevice.guestLimit || hosts[device.id] != nil else { return false }
        hosts[device.id] = device
        return true
    }

    // MARK: Devices that ask for this one

    /// Adds a device that may ask.
    ///
    /// - Returns: Whether it replaces one of the same id with another key.
    mutating func addGuest(_ device: RelayDevice) -> Bool {
        guard guests.count < RelayDevice.guestLimit || guests[device.id] != nil else { return false }
        let isAnother = guests[device.id].map { $0.key != device.key } ?? false
        guests[device.id] = device
        return isAnother
    }

    /// The name under which something is granted to a device: its id and, for another user's device, its key.
    func grantee(_ device: String) -> String {
        guard let guest = guests[device] else { return device }
        let mark = SHA256.hash(data: guest.key).prefix(8).map { String(UInt16($0) + 256, radix: 16).suffix(2) }
        return device + "#" + mark.joined()
    }
}
