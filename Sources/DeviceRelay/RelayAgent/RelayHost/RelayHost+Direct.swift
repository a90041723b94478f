import RelayProtocol

/// Devices that are reached without the server, and their descriptions of themselves.
extension RelayHost {
    /// This device has its id, from an earlier session with the server.
    package mutating func isCalled(_ device: String) { ownID = device }

    /// The user's devices according to the server, and those reached directly that described themselves; `nil` while
    /// neither is known.
    var known: [String: RelayDevice]? {
        guard knowsDevices else { return nil }
        let here = met.filter { direct.contains($0.key) && devices?[$0.key]?.presence != .online }
        return (devices ?? [:]).merging(here) { $1 }
    }

    /// Whether the person's devices are known.
    var knowsDevices: Bool {
        devices != nil || met.keys.contains { direct.contains($0) }
    }

    /// The description of one of the user's devices by its id; `nil` where it is unknown.
    func known(_ device: String) -> RelayDevice? {
        let told = devices?[device]
        if told?.presence != .online, direct.contains(device), let here = met[device] { return here }
        return told
    }

    /// Whether a message can be sent to a device.
    func hasWay(to device: String) -> Bool { isOpen || direct.contains(device) }

    /// A device is reached without the server from now on, or not any more.
    package mutating func reached(_ device: String, isDirect: Bool, at now: Int64) -> [Directive] {
        if isDirect {
            direct.insert(device)
            answered.begin(at: now)
            introduce(to: device)
            tellList(to: device)
            if devices?[device]?.presence != .online { offerAgain(to: device) }
            resumeLines(with: device, now)
        } else {
            direct.remove(device)
            if devices?[device]?.presence != .online { met[device] = nil }
        }
        for client in members.keys { tellWatcher(client) }
        return take(now)
    }

    /// A device is unreachable: messages in transit to it may have arrived or not.
    package mutating func lost(_ device: String, at now: Int64) -> [Directive] {
        met[device] = nil
        lost(device, "the device went away before it answered", now)
        // It may be back by the server already.
        resumeLines(with: device, now)
        for client in members.keys { tellWatcher(client) }
        return take(now)
    }

    /// Sends this device's description to one directly connected device, or to all of them.
    mutating func introduce(to device: String? = nil) {
        guard ownID != nil else { return }
        let own = describedDevice
        for other in direct.sorted() where device == nil || other == device {
            send(.introduction(own), to: other, deadline: nil)
        }
    }

    /// Handles a device's description of itself.
    mutating func peerJoined(_ device: RelayDevice, as id: String, _ now: Int64) {
        guard id != ownID else { return }
        var seen = device
        seen.id = id
        seen.presence = .online
        seen.reach = nil
        let isNew = met[id] == nil
        met[id] = seen
        guard direct.contains(id) else { return }
        if isNew, devices?[id]?.presence != .online {
            tellList(to: id)
            offerAgain(to: id)
        }
        resumeLines(with: id, now)
        for client in members.keys { tellWatcher(client) }
    }
}
