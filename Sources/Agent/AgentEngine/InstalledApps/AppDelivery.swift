import AgentProtocol
import PushCore

/// Decides which notifications and responses one app gets, and when: a value, events in and directives out.
///
/// Guarantees: nothing is handed over before the app is ready. Notifications go in the order of arrival, at most
/// ``window`` of them unanswered. An id is handed over once per connection, and again on the next one unless it has
/// been handled. The same holds for responses, which go before the queued notifications. What a run of the app did not
/// survive is handed to the next one alone, so that another death is the fault of nothing else.
package struct AppDelivery: Sendable {
    /// The most notifications that the app may handle at once.
    package static let window = 64
    /// The most responses that the app may handle at once.
    package static let responseWindow = 16

    /// An event of the app, its connection or its store.
    package enum Event: Sendable {
        /// A connection of the app was accepted; an earlier one is closed by it.
        case connected
        /// The app was told of this response when it was launched.
        case launchedFor(WaitingResponse.Place)
        /// The app takes notifications from now on; counts once a connection.
        case ready
        /// The app's connection is over: notifications that it did not handle wait again.
        case disconnected
        /// Something was stored for the app.
        case stored
        /// A response was stored for the app.
        case responded
        /// The answer to ``Directive/read(after:limit:)``.
        case page([WaitingNotification], limit: Int)
        /// The answer to ``Directive/readResponses(after:limit:)``.
        case responsePage([WaitingResponse], limit: Int)
        /// The app's handler returned for this notification, with what is to be shown of it.
        case handled(NotificationID, HandledOutcome)
        /// The app's handler returned for the response of this sequence.
        case responseHandled(WaitingResponse.Place)
        /// The time limit for an answer has passed, since it last passed or since a notification was handed to the app.
        case answersDue
    }

    /// An action for the agent; directives are performed in order.
    package enum Directive: Sendable, Hashable {
        /// Read the queued notifications after this position; report them with ``Event/page(_:limit:)``.
        case read(after: WaitingNotification.Place, limit: Int)
        /// Read the pending responses after this position; report them with ``Event/responsePage(_:limit:)``.
        case readResponses(after: WaitingResponse.Place, limit: Int)
        /// Give the app a notification, for the handlers of this kind.
        case deliver(WaitingNotification, DeliveryKind)
        /// Give the app a response.
        case respond(WaitingResponse)
        /// Store that it was handled, then confirm it to the app.
        case record(NotificationID, shows: PresentationOptions, setsBadge: Bool)
        /// Store that the app did not take a call, then confirm it to the app.
        case recordUntakenCall(NotificationID)
        /// The app is not in front: it appears without its being asked; `isForApp` when the app gets it all the same.
        case appear(WaitingNotification, isForApp: Bool)
        /// Store that the response of this sequence was handled, then confirm it to the app.
        case recordResponse(WaitingResponse.Place)
    }

    private enum Connection { case none, starting, ready }

    /// Whether the app may show notifications.
    package var mayShow: Bool
    /// Whether the app is in front of the person; else it gets what it is to get in the background.
    package var isInFront = true
    private var connection = Connection.none
    private var inHand: [NotificationID: HandedOver] = [:]
    /// How often answers were due.
    private var round = 0

    private struct HandedOver: Sendable {
        var notification: WaitingNotification
        var kind: DeliveryKind
        var round: Int
    }

    /// The round in which something was handed over that an earlier run did not survive; `nil` while there is none.
    private var aloneSince: Int?
    private var launchResponse: WaitingResponse.Place?

    /// Whether an answer is awaited.
    package var awaitsAnswers: Bool { !inHand.isEmpty || aloneSince != nil }
    /// The notifications without an answer, in their order.
    package var unansweredNotifications: [NotificationID] {
        inHand.values.sorted { $0.notification.sequence < $1.notification.sequence }.map(\.notification.id)
    }
    /// The responses without an answer, in their order.
    package var unansweredResponses: [WaitingResponse.Place] {
        responsesInHand.union([launchResponse].compactMap(\.self)).sorted()
    }
    private var place: WaitingNotification.Place = 0
    private var mayHaveMore = false
    private var responsesInHand: Set<WaitingResponse.Place> = []
    private var responsePlace: WaitingResponse.Place = 0
    private var mayHaveMoreResponses = false

    /// The delivery to an app without a connection.
    ///
    /// - Parameter mayShow: Whether it is allowed to show notifications; else everything is for the background.
    package init(mayShow: Bool) { self.mayShow = mayShow }

    /// Takes an event.
    ///
    /// - Returns: The directives that follow; empty for an event that comes too late.
    package mutating func handle(_ event: Event) -> [Directive] {
        switch event {
        case .connected: start(.starting)
        case .disconnected: start(.none)
        case .launchedFor(let response): launchResponse = response
        case .ready:
            guard connection == .starting else { return [] }
            connection = .ready
            launchResponse = nil
            return more()
        case .stored:
            mayHaveMore = true
            return next()
        case .responded:
            mayHaveMoreResponses = true
            return nextResponses()
        case .page(let page, let limit): return deliver(page, limit: limit)
        case .responsePage(let page, let limit): return respond(page, limit: limit)
        case .handled(let id, let outcome):
            let kind = inHand.removeValue(forKey: id)?.kind
            aloneSince = nil
            if kind == .call, outcome == .background(.failed) { return [.recordUntakenCall(id)] + more() }
            let isShown = mayShow && kind != .call
            return [
                .record(
                    id, shows: isShown ? Self.showing(outcome) : .nothing, setsBadge: isShown && Self.setsBadge(outcome)
                )
            ] + more()
        case .responseHandled(let response):
            responsesInHand.remove(response)
            aloneSince = nil
            return [.recordResponse(response)] + more()
        case .answersDue: return appearOverdue() + moreAfterSilence()
        }
        return []
    }

    private mutating func start(_ state: Connection) {
        let isInFront = isInFront
        self = AppDelivery(mayShow: mayShow)
        self.isInFront = isInFront
        connection = state
        mayHaveMore = true
        mayHaveMoreResponses = true
    }

    private func more() -> [Directive] { nextResponses() + next() }

    /// An app that does not answer what it has alone gets the rest all the same.
    private mutating func moreAfterSilence() -> [Directive] {
        guard let since = aloneSince, since < round - 1 else { return [] }
        aloneSince = nil
        return more()
    }

    private func next() -> [Directive] {
        // Half a window at a time, so that a long queue is not read one by one.
        guard connection == .ready, mayHaveMore, aloneSince == nil, inHand.count <= Self.window / 2 else { return [] }
        return [.read(after: place, limit: Self.window - inHand.count)]
    }

    private func nextResponses() -> [Directive] {
        guard connection == .ready, mayHaveMoreResponses, aloneSince == nil,
            responsesInHand.count < Self.responseWindow
        else { return [] }
        return [.readResponses(after: responsePlace, limit: Self.responseWindow - responsesInHand.count)]
    }

    private mutating func deliver(_ page: [WaitingNotification], limit: Int) -> [Directive] {
        guard connection == .ready else { return [] }
        let given = allowed(page) { $0.attempts > 0 }
        mayHaveMore = page.count >= limit || given.count < page.count
        place = given.last?.sequence ?? place
        let directives = given.flatMap { deliver($0) }
        guard aloneSince != nil, inHand.isEmpty, responsesInHand.isEmpty else { return directives }
        // It appeared, and was not handed over.
        aloneSince = nil
        return directives + next()
    }

    /// The first of a page that may be handed over together: those without an earlier attempt, or one that has it.
    private mutating func allowed<Item>(_ page: [Item], wasTried: (Item) -> Bool) -> ArraySlice<Item> {
        guard aloneSince == nil else { return [] }
        guard let first = page.first, wasTried(first) else { return page.prefix { !wasTried($0) } }
        guard inHand.isEmpty, responsesInHand.isEmpty else { return [] }
        aloneSince = round
        return page.prefix(1)
    }

    /// Only an app in front is asked; in the background it gets what is meant for that.
    private mutating func deliver(_ notification: WaitingNotification) -> [Directive] {
        let kind = notification.kind
        guard kind != .call else {
            keep(notification, .call)
            return [.deliver(notification, .call)]
        }
        if mayShow, !isInFront, kind != .background {
            guard kind == .foregroundAndBackground else { return [.appear(notification, isForApp: false)] }
            keep(notification, .background)
            return [.appear(notification, isForApp: true), .deliver(notification, .background)]
        }
        keep(notification, mayShow ? kind : .background)
        return [.deliver(notification, mayShow ? kind : .background)]
    }

    private mutating func keep(_ notification: WaitingNotification, _ kind: DeliveryKind) {
        inHand[notification.id] = HandedOver(notification: notification, kind: kind, round: round)
    }

    /// Shows overdue notifications without the answer of their app, which is in the foreground; the app keeps them.
    private mutating func appearOverdue() -> [Directive] {
        defer { round += 1 }
        let overdue = inHand.values.filter { $0.round < round && $0.kind != .background && $0.kind != .call }
        return overdue.sorted { $0.notification.sequence < $1.notification.sequence }.map { late in
            inHand[late.notification.id]?.kind = .background
            return .appear(late.notification, isForApp: true)
        }
    }

    private mutating func respond(_ page: [WaitingResponse], limit: Int) -> [Directive] {
        guard connection == .ready else { return [] }
        let given = allowed(page) { $0.attempts > 0 }
        mayHaveMoreResponses = page.count >= limit || given.count < page.count
        responsePlace = given.last?.sequence ?? responsePlace
        responsesInHand.formUnion(given.map(\.sequence))
        return given.map { .respond($0) }
    }

    private static func setsBadge(_ outcome: HandledOutcome) -> Bool {
        guard case .presented(let options) = outcome else { return false }
        return options & PresentationOption.badge != 0
    }

    private static func showing(_ outcome: HandledOutcome) -> PresentationOptions {
        guard case .presented(let options) = outcome else { return .nothing }
        let asked = PresentationOptions(rawValue: Int64(truncatingIfNeeded: options)).intersection(.all)
        return options & PresentationOption.alert == 0 ? asked : asked.union([.screen, .list])
    }
}
