import RelayProtocol

/// Devices that are reached without the server, and their descriptions of themselves.
extension RelayHost {
    /// This device has its id, from an earlier session with the server.
    package mutating func isCalled(_ device: String) { directory.ownID = device }

    /// The user's devices according to the server, and those reached directly that described themselves; `nil` while
    /// neither is known.
    var known: [String: RelayDevice]? {
        guard knowsDevices else { return nil }
        let here = directory.met.filter {
            directory.direct.contains($0.key) && directory.devices?[$0.key]?.presence != .online
        }
        return (directory.devices ?? [:]).merging(here) { $1 }
    }

    /// Whether the person's devices are known.
    var knowsDevices: Bool {
        directory.devices != nil || directory.met.keys.contains { directory.direct.contains($0) }
    }

    /// The description of one of the user's devices by its id; `nil` where it is unknown.
    func known(_ device: String) -> RelayDevice? {
        let told = directory.devices?[device]
        if told?.presence != .online, directory.direct.contains(device), let here = directory.met[device] {
            return here
        }
        return told
    }

    /// Whether a message can be sent to a device.
    func hasWay(to device: String) -> Bool { directory.isOpen || directory.direct.contains(device) }

    /// A device is reached without the server from now on, or not any more.
    package mutating func reached(_ device: String, isDirect: Bool, at now: Int64) -> [Directive] {
        if isDirect {
            directory.direct.insert(device)
            work.answered.begin(at: now)
            introduce(to: device)
            tellList(to: device)
            if directory.devices?[device]?.presence != .online { offerAgain(to: device) }
            resumeLines(with: device, now)
        } else {
            directory.direct.remove(device)
            if directory.devices?[device]?.presence != .online { directory.met[device] = nil }
        }
        for client in members.keys { tellWatcher(client) }
        return take(now)
    }

    /// A device is unreachable: messages in transit to it may have arrived or not.
    package mutating func lost(_ device: String, at now: Int64) -> [Directive] {
        directory.met[device] = nil
        lost(device, detail: "the device went away before it answered", at: now)
        // It may be back by the server already.
        resumeLines(with: device, now)
        for client in members.keys { tellWatcher(client) }
        return take(now)
    }

    /// Sends this device's description to one directly connected device, or to all of them.
    mutating func introduce(to device: String? = nil) {
        guard directory.ownID != nil else { return }
        let own = describedDevice
        for other in directory.direct.sorted() where device == nil || other == device {
            send(.introduction(own), to: other, deadline: nil)
        }
    }

    /// Handles a device's description of itself.
    mutating func peerJoined(_ device: RelayDevice, as id: String, _ now: Int64) {
        guard id != directory.ownID else { return }
        var seen = device
        seen.id = id
        seen.presence = .online
        seen.reach = nil
        let isNew = directory.met[id] == nil
        directory.met[id] = seen
        guard directory.direct.contains(id) else { return }
        if isNew, directory.devices?[id]?.presence != .online {
            tellList(to: id)
            offerAgain(to: id)
        }
        resumeLines(with: id, now)
        for client in members.keys { tellWatcher(client) }
    }
}
