import CoreValues
import Foundation
import RelayProtocol

/// The queued messages of this device that the server has not confirmed, and those that its clients cancel. A value.
struct SentMessages {
    /// A request of a client.
    typealias Request = (client: ClientNumber, request: Int64)

    /// The deadlines of the messages that the server has not confirmed yet.
    private var unconfirmed: [UUID: Int64] = [:]
    /// The requests that cancel queued messages, by message id.
    private var recalls: [UUID: [Request]] = [:]

    /// The time until which a message is to be queued; `nil` where that is too long.
    static func end(deadline: Timestamp?, at now: Timestamp) -> Timestamp? {
        let end = deadline ?? now.adding(milliseconds: QueuedMessage.usualAge)
        return end <= now.adding(milliseconds: QueuedMessage.longestAge) ? end : nil
    }

    /// A message is sent to the server.
    mutating func add(_ queuedMessage: QueuedMessage) { unconfirmed[queuedMessage.id] = queuedMessage.deadline }

    /// Discards a message, and returns its deadline; `nil` where it is confirmed, or none.
    @discardableResult
    mutating func remove(_ id: UUID) -> Int64? { unconfirmed.removeValue(forKey: id) }

    /// Whether another message may be cancelled now.
    var canRecall: Bool { recalls.count < OutcomeReports.limit }

    /// A client cancels a message.
    mutating func recall(_ id: UUID, for request: Request) { recalls[id, default: []].append(request) }

    /// The requests that cancel a message; they are removed.
    mutating func takeRecalls(of id: UUID) -> [Request] { recalls.removeValue(forKey: id) ?? [] }

    /// The requests that cancel any message; they are removed.
    mutating func takeRecalls() -> [Request] {
        defer { recalls = [:] }
        return recalls.values.flatMap { $0 }
    }

    /// A client is gone.
    mutating func forget(_ client: ClientNumber) {
        recalls = recalls.mapValues { $0.filter { $0.client != client } }.filter { !$0.value.isEmpty }
    }
}

/// Messages to devices that are away, in both directions.
struct MessageQueues {
    var sent = SentMessages()
    var received = ReceivedMessages()
    var reports = OutcomeReports()
}
