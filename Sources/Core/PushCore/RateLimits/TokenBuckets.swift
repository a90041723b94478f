/// Token buckets of many keys, such as the addresses of clients: a value of bounded size.
///
/// A key whose bucket was forgotten has a full one. Buckets are forgotten, those that were not used lately first, where more than
/// half of the limit are used in turn. Every operation costs O(1), amortized.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private let half: Int
    private var recent: [Key: TokenBucket] = [:]
    private var earlier: [Key: TokenBucket] = [:]

    /// No buckets yet.
    ///
    /// - Parameter limit: The number of buckets that are kept at most, at least 2.
    package init(limit: Int) { half = max(1, limit / 2) }

    /// The number of buckets that are kept.
    package var count: Int { recent.count + earlier.count }

    /// Takes a token of a key.
    ///
    /// - Parameters:
    ///   - capacity: The number of tokens that a new bucket holds, at least 1.
    ///   - perSecond: The number of tokens that it gets in a second, more than 0.
    /// - Returns: `nil` when there was one; else the whole seconds after which there is one, at least 1.
    package mutating func take(_ key: Key, capacity: Double, perSecond: Double, at now: Timestamp) -> Int? {
        let known = recent[key] ?? earlier.removeValue(forKey: key)
        if recent.count >= half, recent[key] == nil { (recent, earlier) = ([:], recent) }
        var bucket = known ?? TokenBucket(capacity: capacity, perSecond: perSecond, now: now)
        defer { recent[key] = bucket }
        return bucket.take(at: now)
    }
}
