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
    func accept(_ acceptance: AcceptedNotification, sink: any AcceptanceSink) -> Bool

    /// Requests the acceptance of many notifications, and waits while too many are queued.
    ///
    /// The sink gets one result for each that was taken, in the order of the list for those that are stored. Those that
    /// are delivered once or never are attempted in the order of the list. Only a bounded number is queued, and
    /// acceptances by ``accept(_:sink:)`` meanwhile have their share of every batch.
    ///
    /// - Returns: The number taken, from the first one on: all, unless the task was cancelled or the server stops.
    func acceptAll(_ acceptances: [AcceptedNotification], sink: any AcceptanceSink) async -> Int

    /// Records a refused request of a known team, so that its timeline gives the reason.
    ///
    /// - Parameters:
    ///   - code: The reason's code, from a closed set of the endpoint.
    ///   - note: The fault and its place; no secret and nothing of the payload.
    ///   - topic: The topic as the provider wrote it; it may belong to no app.
    /// - Returns: The id under which it can be found; `nil` when no id can be made now.
    func recordRefusal(code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?) -> NotificationID?
}

extension NotificationAcceptor {
    /// Records a request that was refused with a reason of APNs, as ``recordRefusal(code:note:team:topic:apnsID:)``.
    package func recordRefusal(
        _ refusal: APNsRejection, team: TeamID, topic: String, apnsID: APNsID?
    ) -> NotificationID? {
        recordRefusal(
            code: refusal.reason.rawValue, note: refusal.note, team: team, topic: topic, apnsID: apnsID)
    }
}
