import PushCore

/// Decides when an app of UnifiedPush gets its next message: a value, events in and directives out.
///
/// Guarantees: messages go in the order of arrival, one at a time. A message that the app refuses or does not answer is
/// attempted ``attemptLimit`` times. One whose app cannot be reached waits until the app appears; it is attempted after pauses
/// that grow too, since a service file may have been added.
struct UnifiedPushQueue: Sendable {
    /// The attempts for a message that the app refuses or does not answer.
    static let attemptLimit = 3
    /// The pause after the first of them, in milliseconds; the next is twice as long.
    static let refusalPause: Int64 = 2_000
    /// The first pause for an app that cannot be reached, in milliseconds, and the longest.
    static let firstPause: Int64 = 10_000
    static let longestPause: Int64 = 600_000

    enum Event {
        /// A message was stored, or the agent has just started.
        case stored
        /// The answer to ``Directive/read``: the first message that waits.
        case read(UnifiedPushMessage?)
        /// The outcome of the delivery of a message.
        case delivered(NotificationID, UnifiedPushOutcome)
        /// The end of a message is stored.
        case ended
        /// The app has appeared on the bus, or has registered.
        case appeared
        /// The pause of this number is over.
        case rested(Int)
        /// The store has failed: a message may not have been read.
        case storeFailed
    }

    enum Directive: Hashable {
        /// Read the first message that waits, and answer with ``Event/read(_:)``.
        case read
        /// Deliver a message.
        case deliver(UnifiedPushMessage)
        /// Store the end of a message, and answer with ``Event/ended``.
        case end(NotificationID, NotificationState, note: String)
        /// End the messages that are to be attempted once, since the app cannot be reached now.
        case endAttemptedOnce(reason: String)
        /// Answer after this time with ``Event/rested(_:)``.
        case rest(Duration, Int)
    }

    private enum State {
        case idle
        case delivering(UnifiedPushMessage)
        case ending
        case resting
        /// A pause since the app cannot be reached, for this reason.
        case waiting(reason: String)
    }

    private var state = State.idle
    /// The attempts for the message that is first.
    private var attempts: (of: NotificationID?, count: Int) = (nil, 0)
    /// The pauses since the app was reached last.
    private var pauses = 0
    /// The number of the last pause.
    private var pause = 0

    /// Handles an event.
    ///
    /// - Returns: The directives that follow, in order.
    mutating func handle(_ event: Event) -> [Directive] {
        switch (event, state) {
        case (.stored, .idle), (.ended, .ending), (.appeared, .resting), (.appeared, .waiting), (.appeared, .idle):
            return read()
        case (.stored, .waiting(let reason)): return [.endAttemptedOnce(reason: reason)]
        case (.rested(let number), .resting) where number == pause: return read()
        case (.rested(let number), .waiting) where number == pause: return read()
        // The end that is being stored is kept, and stored later.
        case (.storeFailed, .idle): return rest(milliseconds: Self.firstPause)
        case (.read(let message), .idle):
            guard let message else { return [] }
            state = .delivering(message)
            return [.deliver(message)]
        case (.delivered(let id, let outcome), .delivering(let message)) where message.id == id:
            return delivered(message, outcome)
        default: return []
        }
    }

    private mutating func read() -> [Directive] {
        state = .idle
        return [.read]
    }

    private mutating func delivered(_ message: UnifiedPushMessage, _ outcome: UnifiedPushOutcome) -> [Directive] {
        switch outcome {
        case .taken:
            pauses = 0
            return end(message, .handed, note: "to \(message.service) by UnifiedPush")
        case .refused(let error): return failed(message, "\(message.service) answered with \(error)")
        case .unanswered: return failed(message, "\(message.service) did not answer")
        case .unreachable(let reason):
            pauses += 1
            let rest = rest(milliseconds: min(Self.firstPause << Int64(min(pauses, 20) - 1), Self.longestPause))
            state = .waiting(reason: reason)
            return [.endAttemptedOnce(reason: reason)] + rest
        }
    }

    private mutating func failed(_ message: UnifiedPushMessage, _ reason: String) -> [Directive] {
        pauses = 0
        attempts = (message.id, attempts.of == message.id ? attempts.count + 1 : 1)
        guard attempts.count >= Self.attemptLimit || message.isAttemptedOnce else {
            return rest(milliseconds: Self.refusalPause << Int64(attempts.count - 1))
        }
        let count = message.isAttemptedOnce ? "it was to be attempted once" : "\(Self.attemptLimit) attempts were made"
        return end(message, .failed("notTaken"), note: "\(reason); \(count)")
    }

    private mutating func end(
        _ message: UnifiedPushMessage, _ end: NotificationState, note: String
    ) -> [Directive] {
        state = .ending
        return [.end(message.id, end, note: note)]
    }

    private mutating func rest(milliseconds: Int64) -> [Directive] {
        state = .resting
        pause += 1
        return [.rest(.milliseconds(milliseconds), pause)]
    }
}
