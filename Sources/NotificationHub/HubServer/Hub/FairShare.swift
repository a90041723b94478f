/// Divides a bound among several that have more together.
package enum FairShare {
    /// The excess of each: those that have less than an equal share keep all, and what they leave is shared among the others.
    ///
    /// - Parameter counts: The counts, none negative.
    /// - Returns: What is to be taken from each so that at most `most` are left; nothing from the others.
    package static func excess<Owner: Hashable>(_ counts: [Owner: Int], most: Int) -> [Owner: Int] {
        var left = most
        var owners = counts.count
        var excess: [Owner: Int] = [:]
        for (owner, count) in counts.sorted(by: { $0.value < $1.value }) {
            let kept = min(count, left / owners)
            if kept < count { excess[owner] = count - kept }
            left -= kept
            owners -= 1
        }
        return excess
    }
}
