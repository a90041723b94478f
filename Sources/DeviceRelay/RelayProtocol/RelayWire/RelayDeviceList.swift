/// The list of a user's devices and of removed ones, which the devices maintain themselves. A value.
///
/// Guarantees: the counter only rises; an older entry never replaces a newer one; two lists that were changed
/// independently converge.
public struct RelayDeviceList: Hashable, Sendable, Codable {
    /// A device of the list.
    public struct Entry: Hashable, Sendable, Codable {
        /// The device's id.
        public var id: String
        /// The device's public key, 32 bytes.
        public var key: [UInt8]
        /// The counter at which this entry was made.
        public var at: Int64
        /// Whether the device was taken from the list.
        public var isRemoved: Bool
    }

    /// The most entries of a list; those removed first are dropped.
    public static let limit = 320
    /// The greatest counter.
    public static let lastCounter: Int64 = 1 << 53

    /// How often the list was changed.
    public private(set) var counter: Int64 = 0
    /// The entries, sorted by id.
    public private(set) var entries: [Entry] = []

    /// A list without devices.
    public init() {}

    /// The entry of a device.
    public subscript(id: String) -> Entry? { entries.first { $0.id == id } }

    /// Whether a device with this key was taken from the list.
    public func isRemoved(_ id: String, key: [UInt8]) -> Bool {
        self[id].map { $0.isRemoved && $0.key == key } ?? false
    }

    /// Enters a device, or takes it out; where that is so already, or the key is none of 32 bytes, nothing changes.
    public mutating func set(_ id: String, key: [UInt8], isRemoved: Bool) {
        guard key.count == 32 else { return }
        if let old = self[id], old.key == key, old.isRemoved == isRemoved { return }
        counter = min(counter + 1, Self.lastCounter)
        put(Entry(id: id, key: key, at: counter, isRemoved: isRemoved))
    }

    /// This list with what is newer in another. The counter is greater than both where the outcome is neither.
    public func merged(with other: RelayDeviceList) -> RelayDeviceList {
        var merged = counter >= other.counter ? self : other
        let older = counter >= other.counter ? other : self
        for entry in older.entries where merged[entry.id].map({ Self.isNewer(entry, $0) }) ?? true { merged.put(entry) }
        if merged.entries != entries, merged.entries != other.entries {
            merged.counter = min(merged.counter + 1, Self.lastCounter)
        }
        return merged
    }

    /// The greater counter is newer. With equal counters a removal is newer, and then the greater key.
    private static func isNewer(_ one: Entry, _ other: Entry) -> Bool {
        if one.at != other.at { return one.at > other.at }
        if one.isRemoved != other.isRemoved { return one.isRemoved }
        return other.key.lexicographicallyPrecedes(one.key)
    }

    private mutating func put(_ entry: Entry) {
        entries.removeAll { $0.id == entry.id }
        entries.append(entry)
        entries.sort { $0.id < $1.id }
        while entries.count > Self.limit {
            let oldest = entries.indices.min {
                (entries[$0].isRemoved ? 0 : 1, entries[$0].at) < (entries[$1].isRemoved ? 0 : 1, entries[$1].at)
            }
            guard let oldest else { return }
            entries.remove(at: oldest)
        }
    }

    /// The bytes that the account's key signs: one list has one encoding.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    var map: RelayMap {
        [
            "counter": .integer(counter),
            "entries": .array(
                entries.map {
                    .dictionary([
                        "id": .string($0.id), "key": .data($0.key), "at": .integer($0.at),
                        "isRemoved": .bool($0.isRemoved),
                    ])
                }),
        ]
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "list")
        counter = try fields.integer("counter")
        guard (0...Self.lastCounter).contains(counter) else { throw fields.fault("counter", "0 or more, below 2^53") }
        for map in try fields.maps("entries", most: Self.limit) {
            let fields = RelayFields(map, "entry")
            let entry = Entry(
                id: try fields.text("id", most: 64), key: try fields.data("key"), at: try fields.integer("at"),
                isRemoved: try fields.flag("isRemoved"))
            guard entry.key.count == 32 else { throw fields.fault("key", "32 bytes") }
            guard (0...counter).contains(entry.at) else { throw fields.fault("at", "no more than the counter") }
            put(entry)
        }
    }
}
