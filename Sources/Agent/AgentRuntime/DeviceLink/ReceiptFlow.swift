import AgentEngine
import PushCore

/// Decides which receipts go upstream and when: a value.
///
/// Guarantees: batches go in the order of the outbox, at most ``window`` unconfirmed at once; what a session
/// did not get confirmed is sent again in the next; nothing is deleted before the server has it.
struct ReceiptFlow: Sendable {
    /// The most receipts in one batch.
    static let batchLimit = 200
    /// The most batches that may be unconfirmed.
    static let window = 4

    private var isOpen = false
    private var place: OutboxPlace = 0
    private var mayHaveMore = false
    private var underWay: [String: ClosedRange<OutboxPlace>] = [:]

    mutating func sessionOpened() {
        self = ReceiptFlow()
        isOpen = true
        mayHaveMore = true
    }

    mutating func sessionClosed() { self = ReceiptFlow() }

    /// Receipts were committed.
    mutating func committed() { mayHaveMore = true }

    /// After which place of the outbox to read the next batch; `nil` when it is not time.
    var readAfter: OutboxPlace? { isOpen && mayHaveMore && underWay.count < Self.window ? place : nil }

    /// Takes the places of the receipts that were read.
    ///
    /// - Returns: The id under which to send them; `nil` when there are none.
    mutating func batch(_ sequences: [OutboxPlace]) -> String? {
        mayHaveMore = sequences.count >= Self.batchLimit
        guard let first = sequences.first, let last = sequences.last else { return nil }
        place = last
        let name = "\(first)-\(last)"
        underWay[name] = first...last
        return name
    }

    /// The places that a confirmed batch covers; `nil` for one that was not sent over the open connection.
    mutating func confirmed(_ batch: String) -> ClosedRange<OutboxPlace>? { underWay.removeValue(forKey: batch) }
}
