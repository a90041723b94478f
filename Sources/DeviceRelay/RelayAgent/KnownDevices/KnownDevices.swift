import Foundation
import RelayProtocol

/// The devices that this one knows, and its session with the server. A value.
struct KnownDevices {
    /// The user's devices according to the server; `nil` while there is no session.
    var listed: [String: RelayDevice]?
    /// The devices of the user whose apps the server has not listed yet.
    var undescribed: Set<String> = []
    /// The user's devices that described themselves over a direct connection.
    var introduced: [String: RelayDevice] = [:]
    /// The devices that are reached without the server.
    var direct: Set<String> = []
    /// This device's id; `nil` before the first session.
    var ownID: String?
    /// Whether the session with the server is open.
    var isOpen = false

    /// The user's devices according to the server, and those reached directly that described themselves; `nil` while
    /// neither is known.
    var all: [String: RelayDevice]? {
        guard isKnown else { return nil }
        let here = introduced.filter { direct.contains($0.key) && listed?[$0.key]?.presence != .online }
        return (listed ?? [:]).merging(here) { $1 }
    }

    /// Whether the user's devices are known.
    var isKnown: Bool { listed != nil || introduced.keys.contains { direct.contains($0) } }

    /// The user's other devices, with the paths by which they are reached; `nil` while they are not known.
    var others: [String: RelayDevice]? {
        guard var others = all else { return nil }
        if let ownID { others[ownID] = nil }
        for (id, device) in others { others[id]?.reach = reach(of: device) }
        return others
    }

    /// The description of one of the user's devices by its id; `nil` where it is unknown.
    subscript(device: String) -> RelayDevice? {
        let told = listed?[device]
        if told?.presence != .online, direct.contains(device), let here = introduced[device] { return here }
        return told
    }

    /// Whether one of the user's devices is present.
    func isOnline(_ device: String) -> Bool { self[device]?.presence == .online }

    /// Whether the server lists one of the user's devices as present.
    func isListedOnline(_ device: String) -> Bool { listed?[device]?.presence == .online }

    /// Whether a message can be sent to a device.
    func canReach(_ device: String) -> Bool { isOpen || direct.contains(device) }

    /// The path by which a device is reached; `nil` while there is none.
    private func reach(of device: RelayDevice) -> RelayRouteKind? {
        switch device.presence {
        case .online: direct.contains(device.id) ? .direct : .relay
        case .wakeable: .wake
        case .offline: nil
        }
    }

    /// Discards what the server said of the devices.
    mutating func forgetListed() {
        listed = nil
        undescribed = []
    }

    /// Discards all state about a device.
    mutating func forget(_ device: String) {
        listed?[device] = nil
        undescribed.remove(device)
        introduced[device] = nil
    }
}
