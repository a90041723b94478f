import PushCore

/// The topics of connected devices, and the devices that are due to be examined for broadcasts.
///
/// A device is due at most once at a time, and so is a topic, however many broadcasts there are. The store decides what
/// a device receives; this value only determines which devices are examined.
package struct LiveAudience: Sendable {
    private var topics: [TopicNumber: Set<DeviceID>] = [:]
    private var devices: [DeviceID: Set<TopicNumber>] = [:]
    private var dueDevices = OrderedSet<DeviceID>()
    private var dueTopics = OrderedSet<TopicNumber>()
    private var scan: MemberScan?
    /// The next devices of the round, by their numbers: stores keep what they have in that order.
    private var chunk: ArraySlice<DeviceID> = []

    /// How many devices are brought in order at once.
    private static let chunkLimit = 8192

    /// A round over the members that a topic had when it began.
    private enum MemberScan: Sendable {
        case members(Set<DeviceID>, Set<DeviceID>.Index)
        case everyone([DeviceID: Set<TopicNumber>], Dictionary<DeviceID, Set<TopicNumber>>.Index)

        /// The next device; `nil` at the end.
        mutating func next() -> DeviceID? {
            switch self {
            case .members(let members, let index):
                guard index != members.endIndex else { return nil }
                self = .members(members, members.index(after: index))
                return members[index]
            case .everyone(let devices, let index):
                guard index != devices.endIndex else { return nil }
                self = .everyone(devices, devices.index(after: index))
                return devices[index].key
            }
        }
    }

    /// An audience without connected devices.
    package init() {}

    /// How many devices are connected.
    package var count: Int { devices.count }

    /// Whether a device is due.
    package var hasDue: Bool { !chunk.isEmpty || scan != nil || !dueTopics.isEmpty || !dueDevices.isEmpty }

    /// A device is connected and in these topics; what was known of it before is forgotten.
    package mutating func connected(_ device: DeviceID, topics now: Set<TopicNumber>) {
        let before = devices.updateValue(now, forKey: device) ?? []
        guard before != now else { return }
        for topic in before.subtracting(now) { leave(topic, device) }
        for topic in now.subtracting(before) { topics[topic, default: []].insert(device) }
    }

    /// A device is connected no more.
    package mutating func disconnected(_ device: DeviceID) {
        for topic in devices.removeValue(forKey: device) ?? [] { leave(topic, device) }
    }

    private mutating func leave(_ topic: TopicNumber, _ device: DeviceID) {
        topics[topic]?.remove(device)
        if topics[topic]?.isEmpty == true { topics[topic] = nil }
    }

    /// There is a broadcast for the members of these topics.
    package mutating func published(_ numbers: [TopicNumber]) {
        for topic in numbers where topic == .everyone || topics[topic] != nil { dueTopics.append(topic) }
    }

    /// There may be something for these devices.
    package mutating func due(_ devices: some Sequence<DeviceID>) {
        for device in devices { dueDevices.append(device) }
    }

    /// Takes the next devices of the round; at its end there is no round any more.
    private mutating func fillChunk() {
        var devices: [DeviceID] = []
        while devices.count < Self.chunkLimit, let device = scan?.next() { devices.append(device) }
        if devices.count < Self.chunkLimit { scan = nil }
        chunk = devices.sorted()[...]
    }

    /// The next devices that are due, at most `limit`; those of a round of up to 8,192 by their numbers.
    package mutating func next(_ limit: Int) -> [DeviceID] {
        var found: [DeviceID] = []
        while found.count < limit {
            if let device = dueDevices.popFirst() {
                found.append(device)
            } else if let device = chunk.popFirst() {
                found.append(device)
            } else if scan != nil {
                fillChunk()
            } else if let topic = dueTopics.popFirst() {
                if topic == .everyone {
                    scan = .everyone(devices, devices.startIndex)
                } else if let members = topics[topic] {
                    scan = .members(members, members.startIndex)
                }
            } else {
                break
            }
        }
        return found
    }
}

/// Values in the order in which they were appended, each once.
private struct OrderedSet<Value: Hashable & Sendable>: Sendable {
    private var values: [Value] = []
    private var first = 0
    private var members: Set<Value> = []

    var isEmpty: Bool { members.isEmpty }

    mutating func append(_ value: Value) {
        if members.insert(value).inserted { values.append(value) }
    }

    mutating func popFirst() -> Value? {
        guard first < values.count else { return nil }
        let value = values[first]
        first += 1
        members.remove(value)
        if first > 1024, first * 2 > values.count {
            values.removeFirst(first)
            first = 0
        }
        return value
    }
}
