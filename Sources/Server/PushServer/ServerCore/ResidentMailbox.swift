import PushCore

/// A device's mailbox in memory: changed in place, without a copy and without a second look-up of its device.
///
/// A batch changes it before its commit. When the commit fails, the mailbox is read from the store again, and the ids
/// in flight, which no store has, are restored. A copy for each batch would cost as much as its queued notifications.
///
/// Owned by the mailbox service, and used on its event loop only.
final class ResidentMailbox {
    let device: DeviceID
    /// The queued notifications; empty while they are not read.
    private var mailbox = Mailbox()
    /// Whether ``read(_:)`` has loaded the store's rows.
    private(set) var isRead = false
    /// The last batch that the mailbox in memory contains, where several nodes change mailboxes.
    var revision: Int64 = 0
    /// The ids of queued notifications that were written to a connection since the last login.
    private var inFlight: Set<NotificationID> = []
    /// The ids in flight before the batch that is under way; `nil` unless the batch concerns this mailbox.
    private var inFlightBefore: Set<NotificationID>?

    init(_ device: DeviceID) { self.device = device }

    /// The number of notifications in memory.
    var count: Int { isRead ? mailbox.count : inFlight.count }

    /// Whether a notification or notice is queued for the device; `true` as long as that is not known.
    var hasWaiting: Bool {
        !isRead || mailbox.count > 0 || !mailbox.tombstones.isEmpty || !mailbox.recalls.isEmpty
    }

    /// The number of lanes with queued notifications.
    var occupiedLanes: Int { mailbox.occupiedLanes }

    /// Whether a notification is known to be queued.
    func contains(_ id: NotificationID) -> Bool { mailbox.contains(id) }

    /// Loads the store's rows of the device.
    func read(_ found: Prefetched) {
        mailbox = Mailbox(
            entries: found.waiting[device] ?? [], tombstones: found.tombstones[device] ?? [],
            recalls: found.recalls[device] ?? [])
        isRead = true
        inFlight = inFlight.filter(mailbox.contains)
        mailbox.sent(Array(inFlight))
    }

    /// Records that these were written to the device's connection: a fact, whatever the outcome of the batch under way.
    ///
    /// - Parameter isExact: Whether the mailbox in memory is that of the store: one that it does not contain was removed.
    func sent(_ ids: [NotificationID], isExact: Bool) {
        // A session may write what another node has queued, or has removed since.
        if !isExact, isRead, revision > 0, !ids.allSatisfy(mailbox.contains) { isRead = false }
        let waiting = isRead ? ids.filter(mailbox.contains) : ids
        mailbox.sent(waiting)
        inFlight.formUnion(waiting)
        inFlightBefore?.formUnion(waiting)
    }

    /// Begins the use of the mailbox by a batch; `false` when the batch has used it before.
    func beginTransaction() -> Bool {
        guard inFlightBefore == nil else { return false }
        inFlightBefore = inFlight
        return true
    }

    /// Changes the mailbox, which has been read, for the batch that is under way.
    func change(_ event: (inout Mailbox) -> [Mailbox.Directive]) -> [Mailbox.Directive] {
        let directives = event(&mailbox)
        if !inFlight.isEmpty {
            for case .remove(let id, _) in directives { inFlight.remove(id) }
        }
        return directives
    }

    /// Returns what has expired since the last call.
    func takeMissed() -> [MissedNotifications] { mailbox.takeMissed() }

    /// Records a login: nothing is in flight any more.
    func sessionOpened(now: Timestamp) -> [Mailbox.Directive] {
        inFlight = []
        return mailbox.sessionOpened(now: now)
    }

    /// Ends the transaction: the batch is durable.
    func committed() { inFlightBefore = nil }

    /// Reverts the transaction: the batch failed.
    func failed() {
        mailbox = Mailbox()
        isRead = false
        inFlight = inFlightBefore ?? inFlight
        inFlightBefore = nil
    }
}
