import APNsProtocol
import PushCore

/// The port by which every endpoint has notifications accepted.
///
/// The endpoint has made its checks before. Every method may be called on any thread. All but ``acceptAll(_:sink:)``
/// return at once.
package protocol NotificationAcceptor: AnyObject, Sendable {
    /// The server's clock.
    var now: Timestamp { get }

    /// Requests that a notification be stored; the sink gets one result after the commit. A notification that is
    /// delivered once or never (TTL 0) is attempted at once, on the device's connection if there is one, otherwise not
    /// at all. The sink is then called before this returns. Its timeline is written behind; when too many notes are
    /// queued, it is only counted as not recorded.
    ///
    /// - Returns: `false` when too many acceptances are queued: nothing was accepted, and the sink is not called.
    func accept(_ acceptance: Acceptance, sink: any AcceptanceSink) -> Bool

    /// Requests the acceptance of many notifications, and waits while too many are queued.
    ///
    /// The sink gets one result for each that was taken, in the order of the list for those that are stored. Those that
    /// are delivered once or never are attempted in the order of the list. Only a bounded number is queued, and
    /// acceptances by ``accept(_:sink:)`` meanwhile have their share of every batch.
    ///
    /// - Returns: The number taken, from the first one on: all, unless the task was cancelled or the server stops.
    func acceptAll(_ acceptances: [Acceptance], sink: any AcceptanceSink) async -> Int

    /// Records a refused request of a known team, so that its timeline gives the reason.
    ///
    /// - Parameters:
    ///   - code: The reason's code, from a closed set of the endpoint.
    ///   - note: The fault and its place; no secret and nothing of the payload.
    ///   - topic: The topic as the provider wrote it; it may belong to no app.
    /// - Returns: The id under which it can be found; `nil` when no id can be made now.
    func noteRefusal(code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?) -> NotificationID?
}

extension NotificationAcceptor {
    /// Records a request that was refused with a reason of APNs, as ``noteRefusal(code:note:team:topic:apnsID:)``.
    package func noteRefusal(
        _ refusal: APNsRefusal, team: TeamID, topic: String, apnsID: APNsID?
    ) -> NotificationID? {
        noteRefusal(
            code: refusal.reason.rawValue, note: refusal.note, team: team, topic: topic, apnsID: apnsID)
    }
}

extension MailboxService: NotificationAcceptor {
    /// Queues the acceptance, or makes its one attempt at once. Returns `false` while 32,768 acceptances are queued.
    nonisolated package func accept(_ acceptance: Acceptance, sink: any AcceptanceSink) -> Bool {
        take(CollectionOfOne(acceptance), sink: sink) { _ in
            submit(.accept(QueuedAcceptance(acceptance, sink))) ? 1 : 0
        } == 1
    }

    /// Queues as many as fit into the bulk lane, ``Settings/bulkLimit`` at most; makes 512 attempts at a time.
    nonisolated package func acceptAll(_ acceptances: [Acceptance], sink: any AcceptanceSink) async -> Int {
        var taken = 0
        while taken < acceptances.count, await queue.waitForCapacity() {
            taken += take(acceptances[taken...], sink: sink) { stored in
                let (count, push) = queue.push(bulk: stored, sink: sink)
                wake(push)
                return count
            }
        }
        return taken
    }

    /// Takes some of a list, from the first one on. This is the only branch: notifications delivered once or never are
    /// attempted and completed now, and all others are queued.
    ///
    /// - Parameter queue: Queues some of the stored ones, from the first one on; returns how many, 0 where the queue is
    ///   full.
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

    /// The number of a list's notifications that are taken before the task is checked for cancellation.
    private static var takenAtOnce: Int { 512 }
}
