import PushCore

/// Decides which notifications are written to a session's connection, and when. It is independent of the wire format.
///
/// The backlog of the session is read page by page, in order; then new notifications are written as they arrive. A
/// stored notification (it has an expiry) that cannot be written at once is read from the mailbox later. So nothing is
/// buffered here for a slow device. One that is not stored is held while a page is being read, so that it keeps its
/// place in the order. Otherwise it is written at once or given back.
///
/// Every method returns the actions for the caller, in order.
package struct DeliveryFlow: Sendable {
    /// An action for the caller to carry out.
    package enum Directive: Hashable, Sendable {
        /// Read what waits after an id, at most so many, then call ``pageRead(_:)`` or ``pageFailed()``.
        case page(after: NotificationID?, limit: Int)
        /// Write these to the connection, in order.
        case write([OutgoingNotification])
        /// These could not be written, and are not stored: report to the gateway that their attempt failed.
        case notSent([NotificationID])
        /// The mailbox could not be read: end the session, the device will come again.
        case fail
    }

    /// How many notifications one page carries at most, and how many that are not stored are held while it is read.
    package static let pageLimit = 100
    /// How many new notifications one write carries at most.
    package static let writeLimit = 512

    private var hasStarted = false
    /// The highest stored id that was written.
    private var cursor: NotificationID?
    private var pageInFlight: Int?
    /// Something waits in the mailbox that was not read, so the mailbox must be read again.
    private var more = true
    private var writable = true
    private var capacity: Int
    private var held: [OutgoingNotification] = []

    /// A flow of a session that just began.
    ///
    /// - Parameter capacity: How many notifications may be written before some are acknowledged.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Nothing waited when the session was opened, so that there is no first page. Call it before ``start()`` and
    /// before anything is delivered.
    package mutating func nothingWaits() { more = false }

    /// The session is live: reads the first page. Nothing is written before; call it once.
    package mutating func start() -> [Directive] {
        hasStarted = true
        return nextPage()
    }

    /// Whether everything that waits has been written and new ones go straight out.
    package var isLive: Bool { hasStarted && pageInFlight == nil && !more }

    /// New notifications came, in order.
    package mutating func deliver(_ notifications: [OutgoingNotification]) -> [Directive] {
        var written: [OutgoingNotification] = []
        var notSent: [NotificationID] = []
        for notification in notifications {
            let fits = writable && capacity > 0 && written.count < Self.writeLimit
            if notification.expiresAt == nil {
                if pageInFlight != nil, writable, held.count < Self.pageLimit {
                    held.append(notification)
                } else if isLive, fits {
                    recordWritten(notification, in: &written)
                } else {
                    notSent.append(notification.id)
                }
            } else if isLive, fits {
                if cursor.map({ notification.id > $0 }) ?? true { recordWritten(notification, in: &written) }
            } else {
                more = true
            }
        }
        return directives(written: written, notSent: notSent) + nextPage()
    }

    /// Something waits in the mailbox that does not come by ``deliver(_:)``: it is read from there, before anything
    /// that is delivered later.
    package mutating func waitingChanged() -> [Directive] {
        more = true
        return nextPage()
    }

    /// Takes one new notification that can be written at once, as most can. It does what ``deliver(_:)`` does when that
    /// answers with one write, and makes no lists.
    ///
    /// - Returns: `false` when it was not taken; then give it to ``deliver(_:)``.
    package mutating func takesAtOnce(_ notification: OutgoingNotification) -> Bool {
        guard isLive, writable, capacity > 0 else { return false }
        if notification.expiresAt != nil {
            guard cursor.map({ notification.id > $0 }) ?? true else { return false }
            cursor = notification.id
        }
        capacity -= 1
        return true
    }

    /// The page that was asked for.
    package mutating func pageRead(_ page: [OutgoingNotification]) -> [Directive] {
        guard let limit = pageInFlight else { return [] }
        pageInFlight = nil
        if page.count >= limit { more = true }
        guard writable else {
            more = more || !page.isEmpty
            let notSent = held.map(\.id)
            held = []
            return directives(written: [], notSent: notSent)
        }
        var written: [OutgoingNotification] = []
        var notSent: [NotificationID] = []
        for notification in merge(page) {
            if capacity > 0 {
                recordWritten(notification, in: &written)
            } else if notification.expiresAt == nil {
                notSent.append(notification.id)
            } else {
                more = true
            }
        }
        let next = nextPage()
        if pageInFlight == nil {
            notSent += held.map(\.id)
            held = []
        }
        return directives(written: written, notSent: notSent) + next
    }

    /// The page could not be read.
    package mutating func pageFailed() -> [Directive] {
        guard pageInFlight != nil else { return [] }
        pageInFlight = nil
        return closed() + [.fail]
    }

    /// The connection can take more, or for now no more.
    package mutating func writabilityChanged(_ writable: Bool) -> [Directive] {
        self.writable = writable
        return nextPage()
    }

    /// The device acknowledged some.
    package mutating func capacityChanged(_ capacity: Int) -> [Directive] {
        self.capacity = capacity
        return nextPage()
    }

    /// The session ended: gives back what was held.
    package mutating func closed() -> [Directive] {
        more = false
        writable = false
        let notSent = held.map(\.id)
        held = []
        return directives(written: [], notSent: notSent)
    }

    private mutating func nextPage() -> [Directive] {
        guard hasStarted, more, pageInFlight == nil, writable, capacity > 0 else { return [] }
        more = false
        let limit = min(Self.pageLimit, capacity)
        pageInFlight = limit
        return [.page(after: cursor, limit: limit)]
    }

    /// The page with those of the held ones that belong before its end; all of them when the page is the last.
    private mutating func merge(_ page: [OutgoingNotification]) -> [OutgoingNotification] {
        guard !held.isEmpty else { return page }
        let isDue: (OutgoingNotification) -> Bool = { [more] held in
            !more || page.last.map { held.id < $0.id } ?? false
        }
        let due = held.filter(isDue)
        held.removeAll(where: isDue)
        return due.isEmpty ? page : (page + due).sorted { $0.id < $1.id }
    }

    private mutating func recordWritten(_ notification: OutgoingNotification, in written: inout [OutgoingNotification])
    {
        written.append(notification)
        capacity -= 1
        if notification.expiresAt != nil { cursor = notification.id }
    }

    private func directives(written: [OutgoingNotification], notSent: [NotificationID]) -> [Directive] {
        var directives: [Directive] = []
        if !written.isEmpty { directives.append(.write(written)) }
        if !notSent.isEmpty { directives.append(.notSent(notSent)) }
        return directives
    }
}
