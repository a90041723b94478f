import CoreValues
import Foundation
import RelayProtocol

/// The queued messages of other devices, until their outcomes are on the disk.
///
/// Guarantees: the messages of one device to one app are delivered in order, one after the other. A value.
struct ReceivedMessages {
    /// A received message, until its outcome is on the disk.
    struct Message {
        var queuedMessage: QueuedMessage
        var lane: Lane
        var call: RelayCall
        /// How often it was given to its app, by earlier runs of the agent too.
        var attempts: Int
        /// Whether its delivery has begun.
        var isGiven = false
        /// The outcome of the message; `nil` while it is not known.
        var outcome: RelayOutcome?
    }

    /// The queue of messages from one device to one app, which are delivered in order.
    struct Lane: Hashable {
        var device: String
        var app: String
    }

    private var messages: [QueuedMessageKey: Message] = [:]
    private var lanes: [Lane: [QueuedMessageKey]] = [:]
    /// The lanes whose current message has ended, so that the next one is due.
    private var endedLanes: [Lane] = []
    /// The lanes whose next message is due, but was deferred because too many tasks are in progress.
    private var busyLanes: [Lane] = []
    private var log = ReceivedMessageLog()
    /// How often messages were given to their apps by earlier runs of the agent, until they arrive again.
    private var earlierAttempts: [QueuedMessageKey: Int] = [:]

    /// The timeout for an app, or the user, with one message.
    static var timeout: Duration { .seconds(60) }
    /// How often a message is delivered to an app that ends each time before it has confirmed it.
    static var attemptLimit: Int { 3 }
    /// The most messages taken from the server that have not ended; it sends no more than half as many.
    static var limit: Int { 64 }

    /// Whether a key names a message whose outcome is not on the disk.
    func contains(_ key: QueuedMessageKey) -> Bool { messages[key] != nil }

    /// Whether another message can be taken under a key.
    func hasCapacity(for key: QueuedMessageKey) -> Bool { messages[key] == nil && messages.count < Self.limit }

    /// The status of a message that was taken before; `nil` where it was not.
    func statusOfEnded(_ key: QueuedMessageKey) -> RelayStatus? { log[key] }

    /// Remembers a message whose outcome is on the disk.
    mutating func remember(_ message: ReceivedMessage, at now: Timestamp) { log.add(message, at: now.rawValue) }

    /// Remembers an attempt of an earlier run of the agent.
    mutating func remember(_ attempt: DeliveryAttempt) { earlierAttempts[attempt.key, default: 0] += 1 }

    // MARK: Delivery

    /// Adds a message to its lane.
    ///
    /// - Returns: Whether it is due.
    mutating func add(_ queuedMessage: QueuedMessage, call: RelayCall, key: QueuedMessageKey) -> Bool {
        let lane = Lane(device: queuedMessage.peer, app: call.app)
        let attempts = earlierAttempts.removeValue(forKey: key) ?? 0
        messages[key] = Message(queuedMessage: queuedMessage, lane: lane, call: call, attempts: attempts)
        lanes[lane, default: []].append(key)
        return lanes[lane]?.count == 1
    }

    /// The call of a message and the message's deadline; `nil` where the key names none.
    func call(of key: QueuedMessageKey) -> (call: RelayCall, deadline: Timestamp)? {
        messages[key].map { ($0.call, Timestamp(rawValue: $0.queuedMessage.deadline)) }
    }

    /// Defers a message until fewer tasks are in progress.
    mutating func postpone(_ key: QueuedMessageKey) {
        if let lane = messages[key]?.lane { busyLanes.append(lane) }
    }

    /// The delivery of a message to its app begins.
    mutating func begin(_ key: QueuedMessageKey) { messages[key]?.isGiven = true }

    /// Whether a message was given to its app as often as may be.
    func isExhausted(_ key: QueuedMessageKey) -> Bool {
        messages[key].map { $0.attempts >= Self.attemptLimit } ?? false
    }

    /// A message is given to its app.
    ///
    /// - Returns: The attempt to be written to the disk; `nil` where the key names no message.
    mutating func given(_ key: QueuedMessageKey) -> DeliveryAttempt? {
        guard let message = messages[key] else { return nil }
        messages[key]?.attempts += 1
        return DeliveryAttempt(key: key, until: message.queuedMessage.deadline)
    }

    /// Whether a message is delivered again after its app has ended; it is prepared for that.
    mutating func isRepeated(_ key: QueuedMessageKey) -> Bool {
        guard let message = messages[key], message.outcome == nil, !isExhausted(key) else { return false }
        messages[key]?.isGiven = false
        return true
    }

    /// The deferred messages are due, since fewer tasks are in progress.
    mutating func resumePostponed() {
        endedLanes += busyLanes
        busyLanes = []
    }

    /// The next message that is due because the previous one of its lane has ended; `nil` for none.
    mutating func next() -> QueuedMessageKey? {
        while let lane = endedLanes.popLast() {
            guard var keys = lanes[lane] else { continue }
            keys.removeAll { messages[$0].map { $0.outcome != nil } ?? true }
            lanes[lane] = keys.isEmpty ? nil : keys
            if let next = keys.first, messages[next]?.isGiven == false { return next }
        }
        return nil
    }

    // MARK: Outcomes

    /// Settles a message; the next message of its lane is due.
    ///
    /// - Returns: The message to be written to the disk; `nil` where the key names no message without an outcome.
    mutating func settle(_ key: QueuedMessageKey, _ outcome: RelayOutcome) -> ReceivedMessage? {
        guard let message = messages[key], message.outcome == nil else { return nil }
        messages[key]?.outcome = RelayOutcome(outcome.status, detail: outcome.detail)
        endedLanes.append(message.lane)
        // Its sender may give it again for a while.
        let until = Timestamp(rawValue: message.queuedMessage.deadline).adding(milliseconds: ReceivedMessage.memory)
        return ReceivedMessage(key: key, until: until.rawValue, status: outcome.status)
    }

    /// The outcome of a message is on the disk, or could not be written.
    ///
    /// - Returns: The outcome.
    mutating func remove(_ message: ReceivedMessage, at now: Timestamp) -> RelayOutcome {
        let outcome = messages.removeValue(forKey: message.key)?.outcome ?? RelayOutcome(message.status)
        remember(message, at: now)
        return outcome
    }
}
