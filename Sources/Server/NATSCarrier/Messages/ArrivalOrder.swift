/// The order of the batches that arrive from other nodes. A value.
///
/// The subject to which a batch is answered ends with the name of the sender's run and a rising number. Bytes that were in a lost
/// connection may arrive after those of the next one.
struct ArrivalOrder {
    /// The number of the newest batch of each run.
    private var newest: [Substring: UInt64] = [:]

    /// The maximum number of runs; more than there are nodes.
    static let limit = 4096

    /// Whether a batch arrives after all that were sent before it, and none that was sent after it. A subject without a number
    /// has no order.
    mutating func accepts(_ subject: String) -> Bool {
        guard let point = subject.lastIndex(of: "."), let number = UInt64(subject[subject.index(after: point)...])
        else {
            return true
        }
        let run = subject[..<point]
        if let known = newest[run], number <= known { return false }
        // The runs of nodes that have ended are forgotten with those of the others.
        if newest.count >= Self.limit, newest[run] == nil { newest = [:] }
        newest[run] = number
        return true
    }
}
