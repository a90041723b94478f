/// The latest list of the account's devices from the server, kept on a device. A value.
///
/// Guarantees: changes have the same result as a complete list. A device reports a state only when it knows all of it.
/// The value outlives sessions, not the agent.
public struct AnnouncedDevices: Sendable {
    /// The access token of the account that the devices belong to.
    private var token: [UInt8] = []
    private var known = DirectoryRevision()
    private var devices: [String: RelayDevice] = [:]
    /// The devices whose apps have not been received yet.
    private var undescribed: Set<String> = []

    /// An empty list.
    public init() {}

    /// A frame as it is sent: a hello reports the known state.
    public mutating func outgoing(_ frame: RelayFrame) -> RelayFrame {
        switch frame {
        case .hello(let token, let device, let wake, _):
            if token != self.token { self = AnnouncedDevices() }
            self.token = token
            let known = undescribed.isEmpty ? known : DirectoryRevision()
            return .hello(token: token, device, wake: wake, known: known)
        case .goodbye:
            self = AnnouncedDevices()
            return frame
        default: return frame
        }
    }

    /// The equivalent of a server's frame in frames that depend on no earlier state.
    public mutating func incoming(_ frame: RelayFrame) -> [RelayFrame] {
        switch frame {
        case .changes(let changes): return take(changes)
        case .welcome(_, _, let all, let rest):
            replace(all, rest)
            known = DirectoryRevision()
        case .changed(_, let device):
            // The frame describes the present device; only changes name the state.
            devices[device.id] = device
            undescribed.remove(device.id)
        case .removed(_, let device):
            devices[device] = nil
            undescribed.remove(device)
        default: break
        }
        return [frame]
    }

    private mutating func replace(_ all: [RelayDevice], _ rest: [String]) {
        devices = Dictionary(all.map { ($0.id, $0) }) { $1 }
        undescribed = Set(rest)
    }

    private mutating func take(_ changes: RelayChanges) -> [RelayFrame] {
        let follows = changes.since.map { changes.epoch == known.epoch && $0 <= known.revision } ?? true
        if changes.since == nil { replace(changes.devices, changes.undescribed) }
        for id in changes.removed {
            devices[id] = nil
            undescribed.remove(id)
        }
        for device in changes.devices where changes.since != nil {
            devices[device.id] = device
            undescribed.remove(device.id)
        }
        // Where changes in between were lost, the next session receives everything again.
        known = follows ? DirectoryRevision(epoch: changes.epoch, revision: changes.revision) : DirectoryRevision()
        if let own = changes.device {
            let all = devices.values.sorted { $0.id < $1.id }
            return [
                .welcome(
                    device: own, revision: changes.revision, devices: all, undescribed: undescribed.sorted())
            ]
        }
        return changes.removed.map { .removed(revision: changes.revision, device: $0) }
            + changes.devices.map { .changed(revision: changes.revision, $0) }
    }
}
