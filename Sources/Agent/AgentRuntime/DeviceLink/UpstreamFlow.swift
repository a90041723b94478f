import AgentEngine

/// Decides which messages of apps go upstream and when: a value.
///
/// Guarantees: they go in the order of the outbox, at most ``window`` unconfirmed at once; what a session did not get
/// confirmed is sent again in the next, under the same name.
struct UpstreamFlow: Sendable {
    /// The most messages that may be unconfirmed. Receipts have their share of the session's window too.
    static let window = 8

    private var isOpen = false
    private var place: QueuedUpstream.Place = 0
    private var mayHaveMore = false
    /// The messages that were sent over the open session and are not confirmed, by name.
    private var unconfirmed: [String: QueuedUpstream.Place] = [:]
    private var refusals: [String: String] = [:]

    mutating func sessionOpened() {
        self = UpstreamFlow()
        isOpen = true
        mayHaveMore = true
    }

    mutating func sessionClosed() { self = UpstreamFlow() }

    /// Messages were committed.
    mutating func committed() { mayHaveMore = true }

    /// After which place of the outbox to read, and how many; `nil` when it is not time.
    var read: (after: QueuedUpstream.Place, limit: Int)? {
        let capacity = Self.window - unconfirmed.count
        return isOpen && mayHaveMore && capacity > 0 ? (place, capacity) : nil
    }

    /// Takes what was read: it is sent now.
    mutating func send(_ messages: [(sequence: QueuedUpstream.Place, name: String)], of limit: Int) {
        mayHaveMore = messages.count >= limit
        for message in messages {
            place = message.sequence
            unconfirmed[message.name] = message.sequence
        }
    }

    /// The server refuses the message of this name; the refusal comes before the confirmation.
    mutating func refused(_ name: String, code: String) {
        if unconfirmed[name] != nil { refusals[name] = code }
    }

    /// The place of a message that the server is done with, and why it failed, if it did; `nil` for one that was not
    /// sent over the open session.
    mutating func confirmed(_ name: String) -> (sequence: QueuedUpstream.Place, code: String?)? {
        guard let sequence = unconfirmed.removeValue(forKey: name) else { return nil }
        return (sequence, refusals.removeValue(forKey: name))
    }
}
