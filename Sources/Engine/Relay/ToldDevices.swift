import RelayWire

/// The devices of this device's account as the server told them last, on the device: a value.
///
/// Guarantees: what the server tells as changes comes out as what it would have told all anew; a device says that it knows a state only
/// when nothing of it is missing. It outlives sessions, not the agent.
public struct ToldDevices: Sendable {
    /// Whose devices they are.
    private var token: [UInt8] = []
    private var known = RelayKnown()
    private var devices: [String: RelayDevice] = [:]
    /// Those whose apps are still to come.
    private var undescribed: Set<String> = []

    /// Nothing was told yet.
    public init() {}

    /// A frame as it is sent: a hello says what is known.
    public mutating func outgoing(_ frame: RelayFrame) -> RelayFrame {
        switch frame {
        case .hello(let token, let device, let wake, _):
            if token != self.token { self = ToldDevices() }
            self.token = token
            let known = undescribed.isEmpty ? known : RelayKnown()
            return .hello(token: token, device, wake: wake, known: known)
        case .goodbye:
            self = ToldDevices()
            return frame
        default: return frame
        }
    }

    /// What a frame of the server says, in the frames that need no memory.
    public mutating func incoming(_ frame: RelayFrame) -> [RelayFrame] {
        switch frame {
        case .changes(let changes): return take(changes)
        case .welcome(_, _, let all, let rest):
            replace(all, rest)
            known = RelayKnown()
        case .changed(_, let device):
            // What it says is of its time; which state that is only changes tell.
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
        // Where something between was lost, all is told anew in the next session.
        known = follows ? RelayKnown(epoch: changes.epoch, revision: changes.revision) : RelayKnown()
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
