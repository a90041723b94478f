/// The values of two labels that are told of, where somebody else says the second: so many of each first, and so many in
/// all. Everything beyond is `other`.
public struct BoundedPairs: Sendable {
    /// What stands for everything that has no series of its own.
    public static let other = "other"

    private let perFirst: Int
    private let limit: Int
    private var seconds: [String: Set<String>] = [:]
    private var count = 0

    /// No pairs yet.
    ///
    /// - Parameters:
    ///   - perFirst: How many second values one first value may have.
    ///   - limit: How many pairs there may be.
    public init(perFirst: Int, limit: Int) {
        self.perFirst = perFirst
        self.limit = limit
    }

    /// The labels for two values; `nil` for a first that is none of those that are told of.
    public mutating func labels(_ first: String?, _ second: String) -> (first: String, second: String) {
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
