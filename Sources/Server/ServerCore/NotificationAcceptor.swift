import APNsWire
import PushModel

/// The port by which every door has notifications accepted.
///
/// The door has made its checks before. Every method may be called on any thread. All but ``acceptAll(_:sink:)``
/// return at once.
public protocol NotificationAcceptor: AnyObject, Sendable {
    /// The server's clock.
    var now: Timestamp { get }

    /// Asks for a notification to be stored; the sink gets one verdict after the commit. One that is to be delivered
    /// once or never is attempted at once, and the sink is called before this returns.
    ///
    /// - Returns: `false` when too much is queued: nothing was accepted, and the sink is not called.
    func accept(_ acceptance: Acceptance, sink: any AcceptanceSink) -> Bool

    /// Asks for many notifications to be accepted, and waits while too much is queued.
    ///
    /// The sink gets one verdict for each that was taken, in the order of the list for those that are stored. Those
    /// that are delivered once or never are attempted when their turn comes. However many they are, a bounded number
    /// is queued, and what comes by ``accept(_:sink:)`` meanwhile has its share of every batch.
    ///
    /// - Returns: How many were taken, from the first one on: all, unless the task was cancelled or the server stops.
    func acceptAll(_ acceptances: [Acceptance], sink: any AcceptanceSink) async -> Int

    /// Makes one attempt to deliver (TTL 0): to the device's connection if there is one, else not at all.
    ///
    /// Like ``accept(_:sink:)``, without a sink. Nothing is stored now. The timeline is written behind; when too much
    /// is queued for that, it is only counted as not recorded.
    /// - Returns: the notification's id; `nil` when no id can be made now.
    func attempt(_ acceptance: Acceptance) -> NotificationID?

    /// Notes a refused request of a known team, so that its timeline can say why.
    ///
    /// - Parameters:
    ///   - code: The reason's code, of a closed set of the door's.
    ///   - note: What was wrong, and where; no secret and nothing of the payload.
    ///   - topic: As the provider wrote it; may name no app.
    /// - Returns: the id under which it can be found; `nil` when no id can be made now.
    func noteRefusal(code: String, note: String?, team: TeamID, topic: String, apnsID: String?) -> NotificationID?
}

extension NotificationAcceptor {
    /// Notes a request that was refused with a reason of APNs, as
    /// ``noteRefusal(code:note:team:topic:apnsID:)``.
    public func noteRefusal(
        _ refusal: APNsRefusal, team: TeamID, topic: String, apnsID: String?
    ) -> NotificationID? {
        noteRefusal(
            code: refusal.reason.rawValue, note: refusal.note, team: team, topic: topic, apnsID: apnsID)
    }
}

extension MailboxService: NotificationAcceptor {
    /// Queues what the bulk lane has room for, ``Settings/bulkLimit`` at most; makes 512 attempts at a time.
    nonisolated public func acceptAll(_ acceptances: [Acceptance], sink: any AcceptanceSink) async -> Int {
        var taken = 0
        while taken < acceptances.count, await queue.waitForRoom() {
            taken += take(acceptances[taken...], sink: sink)
        }
        return taken
    }

    /// Takes some of a list, from the first one on; none when other callers took the room before.
    nonisolated private func take(_ acceptances: ArraySlice<Acceptance>, sink: any AcceptanceSink) -> Int {
        let attempts = acceptances.prefix(Self.attemptsAtOnce).prefix(while: \.isAttempt)
        guard attempts.isEmpty else {
            sink.judged(attempts.map(attempted))
            return attempts.count
        }
        let (count, push) = queue.push(bulk: acceptances, sink: sink)
        wake(push)
        return count
    }

    /// Makes an attempt; the verdict is for its sink.
    nonisolated func attempted(_ acceptance: Acceptance) -> AcceptanceVerdict {
        AcceptanceVerdict(
            ticket: acceptance.ticket, id: attempt(acceptance), apnsID: acceptance.notification.apnsID)
    }

    /// How many attempts of a list are made before its task is asked whether to go on.
    private static var attemptsAtOnce: Int { 512 }
}
