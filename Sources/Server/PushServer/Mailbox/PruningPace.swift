/// How much of what is old is deleted at a time: a value.
///
/// A slice aims at ``target``, and as much time as it took is left to others before the next. So pruning has at most
/// half of the writer, whatever a row costs to delete, and no transaction is held up by much more than the target.
package struct PruningPace: Hashable, Sendable {
    /// How long one slice should take.
    package static let target = Duration.milliseconds(8)
    /// Rows that a slice may have.
    package static let limits = 100...20_000

    /// Rows that the next slice may delete of each kind.
    package private(set) var limit = 500
    /// The pause before the next slice.
    package private(set) var pause = target

    /// 500 rows, and no more time than a slice aims at.
    package init() {}

    /// Records how long the deletion of one slice took.
    package mutating func recordSlice(taking duration: Duration) {
        let took = max(.zero, duration)
        if took > Self.target * 2 {
            limit = max(Self.limits.lowerBound, limit / 2)
        } else if took < Self.target / 2 {
            limit = min(Self.limits.upperBound, limit * 2)
        }
        pause = max(.milliseconds(1), took)
    }
}
