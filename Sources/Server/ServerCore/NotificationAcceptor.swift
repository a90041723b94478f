import APNsWire
import PushModel

/// The port by which every door has notifications accepted.
///
/// The door has made its checks before. Every method may be called on any thread. All but ``acceptAll(_:sink:)``
/// return at once.
public protocol NotificationAcceptor: AnyObject, Sendable {
    /// The server's clock.
    var now: Timestamp { get }

    /// Asks for a notification to be stored; the sink gets one result after the commit. One that is to be delivered
    /// once or never (TTL 0) is attempted at once, to the device's connection if there is one, else not at all; the sink is
    /// called before this returns. Its timeline is written behind; when too much is queued for that, it is only counted as
    /// not recorded.
    ///
    /// - Returns: `false` when too much is queued: nothing was accepted, and the sink is not called.
    func accept(_ acceptance: Acceptance, sink: any AcceptanceSink) -> Bool

    /// Asks for many notifications to be accepted, and waits while too much is queued.
    ///
    /// The sink gets one result for each that was taken, in the order of the list for those that are stored. Those
    /// that are delivered once or never are attempted when their turn comes. However many they are, a bounded number
    /// is queued, and what comes by ``accept(_:sink:)`` meanwhile has its share of every batch.
    ///
    /// - Returns: How many were taken, from the first one on: all, unless the task was cancelled or the server stops.
    func acceptAll(_ acceptances: [Acceptance], sink: any AcceptanceSink) async -> Int

    /// Notes a refused request of a known team, so that its timeline can say why.
    ///
    /// - Parameters:
    ///   - code: The reason's code, of a closed set of the door's.
    ///   - note: What was wrong, and where; no secret and nothing of the payload.
    ///   - topic: As the provider wrote it; may name no app.
    /// - Returns: the id under which it can be found; `nil` when no id can be made now.
    func noteRefusal(code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?) -> NotificationID?
}

extension NotificationAcceptor {
    /// Notes a request that was refused with a reason of APNs, as
    /// ``noteRefusal(code:note:team:topic:apnsID:)``.
    public func noteRefusal(
        _ refusal: APNsRefusal, team: TeamID, topic: String, apnsID: APNsID?
    ) -> NotificationID? {
        noteRefusal(
            code: refusal.reason.rawValue, note: refusal.note, team: team, topic: topic, apnsID: apnsID)
    }
}

extension MailboxService: NotificationAcceptor {
    /// Queues the acceptance, or makes its one attempt at once. Returns `false` while 32,768 acceptances are queued.
    nonisolated public func accept(_ acceptance: Acceptance, sink: any AcceptanceSink) -> Bool {
        take(CollectionOfOne(acceptance), sink: sink) { _ in
            submit(.accept(QueuedAcceptance(acceptance, sink))) ? 1 : 0
        } == 1
    }

    /// Queues what the bulk lane has room for, ``Settings/bulkLimit`` at most; makes 512 attempts at a time.
    nonisolated public func acceptAll(_ acceptances: [Acceptance], sink: any AcceptanceSink) async -> Int {
        var taken = 0
        while taken < acceptances.count, await queue.waitForRoom() {
            taken += take(acceptances[taken...], sink: sink) { stored in
                let (count, push) = queue.push(bulk: stored, sink: sink)
                wake(push)
                return count
            }
        }
        return taken
    }

    /// Takes some of a list, from the first one on. Here alone the ways part: what is delivered once or never is
    /// attempted and completed now, and everything else is queued.
    ///
    /// - Parameter queue: Queues some of those that are stored, from the first one on; returns how many, none where there
    ///   is no room.
    nonisolated private func take<List: Collection<Acceptance>>(
        _ acceptances: List, sink: any AcceptanceSink, queue: (List.SubSequence) -> Int
    ) -> Int {
        let next = acceptances.prefix(Self.takenAtOnce)
        let attempts = next.prefix(while: \.isAttempt)
        guard !attempts.isEmpty else { return queue(next.prefix { !$0.isAttempt }) }
        sink.completed(
            attempts.map {
                AcceptanceResult(ticket: $0.ticket, id: attempt($0), apnsID: $0.notification.apnsID)
            })
        return attempts.count
    }

    /// How many of a list are taken before its task is asked whether to go on.
    private static var takenAtOnce: Int { 512 }
}
