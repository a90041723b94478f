import Mailbox
import PushModel

/// A device's mailbox in memory: changed in place, without a copy and without a second look-up of its device.
///
/// A batch changes it before its commit. When the commit fails, the mailbox is read from the store again, and the ids
/// in flight, which no store knows, are put back as they were. A copy for each batch would cost as much as waits in it.
///
/// Owned by the mailbox service, and used on its event loop only.
final class ResidentMailbox {
    let device: DeviceID
    /// Empty while it is not read.
    private var mailbox = Mailbox()
    /// Whether ``read(_:)`` has brought in what the store holds.
    private(set) var isRead = false
    /// Of what waits, the ids that were written to a connection since the last login.
    private var inFlight: Set<NotificationID> = []
    /// What was in flight before the batch that is under way; `nil` unless that concerns this mailbox.
    private var inFlightBefore: Set<NotificationID>?

    init(_ device: DeviceID) { self.device = device }

    /// How many notifications are held here.
    var count: Int { isRead ? mailbox.count : inFlight.count }

    /// Whether the device is to be told of something: a notification, or a notice; `true` as long as that is not known.
    var hasWaiting: Bool {
        !isRead || mailbox.count > 0 || !mailbox.tombstones.isEmpty || !mailbox.recalls.isEmpty
    }

    /// How many lanes have something that waits.
    var occupiedLanes: Int { mailbox.occupiedLanes }

    /// Whether a notification is known to wait.
    func contains(_ id: NotificationID) -> Bool { mailbox.contains(id) }

    /// Takes over what the store holds for the device.
    func read(_ found: Prefetched) {
        mailbox = Mailbox(
            entries: found.waiting[device] ?? [], tombstones: found.tombstones[device] ?? [],
            recalls: found.recalls[device] ?? [])
        isRead = true
        inFlight = inFlight.filter(mailbox.contains)
        mailbox.sent(Array(inFlight))
    }

    /// These were written to the device's connection: a fact, whatever becomes of the batch that is under way.
    func sent(_ ids: [NotificationID]) {
        let waiting = isRead ? ids.filter(mailbox.contains) : ids
        mailbox.sent(waiting)
        inFlight.formUnion(waiting)
        inFlightBefore?.formUnion(waiting)
    }

    /// A batch is about to read or change the mailbox; `false` when it has done so before.
    func beginTransaction() -> Bool {
        guard inFlightBefore == nil else { return false }
        inFlightBefore = inFlight
        return true
    }

    /// Changes the mailbox, which is read, for the batch that is under way.
    func change(_ event: (inout Mailbox) -> [Mailbox.Directive]) -> [Mailbox.Directive] {
        let directives = event(&mailbox)
        if !inFlight.isEmpty {
            for case .remove(let id, _) in directives { inFlight.remove(id) }
        }
        return directives
    }

    /// The device logged in: nothing is in flight any more.
    func sessionOpened(now: Timestamp) -> [Mailbox.Directive] {
        inFlight = []
        return mailbox.sessionOpened(now: now)
    }

    /// The batch is durable.
    func committed() { inFlightBefore = nil }

    /// Nothing of the batch has happened.
    func failed() {
        mailbox = Mailbox()
        isRead = false
        inFlight = inFlightBefore ?? inFlight
        inFlightBefore = nil
    }
}
