/// A bounded dictionary that discards entries that were not used lately.
///
/// It has two generations: when the young one is full it becomes the old one, and the old one is discarded. An entry
/// found in the old one moves to the young. Holds at most twice `capacity`; every step costs O(1).
struct GenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func value(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        insert(value, key)
        return value
    }

    mutating func insert(_ value: Value, _ key: Key) {
        if young.count >= capacity {
            old = young
            young = [:]
        }
        young[key] = value
    }

    mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }
}
