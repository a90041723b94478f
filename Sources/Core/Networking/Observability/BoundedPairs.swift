/// The values of two labels of a metric, of which the second is chosen by an untrusted source. It bounds the second
/// values for each first value, and all pairs; others become `other`.
package struct BoundedPairs: Sendable {
    /// The label of all values without a series of their own.
    package static let other = "other"

    private let perFirst: Int
    private let limit: Int
    private var seconds: [String: Set<String>] = [:]
    private var count = 0

    /// Creates an empty set of pairs.
    ///
    /// - Parameters:
    ///   - perFirst: The maximum number of second values of one first value.
    ///   - limit: The maximum number of pairs.
    package init(perFirst: Int, limit: Int) {
        self.perFirst = perFirst
        self.limit = limit
    }

    /// The labels for two values; a `nil` first value has the labels of all others.
    package mutating func labels(_ first: String?, _ second: String) -> (first: String, second: String) {
        guard let first else { return (Self.other, Self.other) }
        let known = seconds[first] ?? []
        if known.contains(second) { return (first, second) }
        guard known.count < perFirst, count < limit else {
            return known.isEmpty ? (Self.other, Self.other) : (first, Self.other)
        }
        count += 1
        seconds[first, default: []].insert(second)
        return (first, second)
    }
}
