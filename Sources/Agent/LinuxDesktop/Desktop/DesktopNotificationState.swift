import AgentEngine
import PushCore

/// The notifications on the screen and those still to be posted: a value, events in and directives out.
///
/// Guarantees: each presentation is answered exactly once. A notification of an app's identifier replaces the one that
/// is shown. When another notification server starts, what the earlier one showed is posted again, and so is what came
/// while there was none; both without a sound. An update changes what is still to be posted, and follows what is being
/// posted. It never restores a notification that has gone, and never replaces a newer one.
struct DesktopNotificationState: Sendable {
    /// The most presentations that wait to be posted or for an answer. Updates do not count: of each notification that
    /// is shown or being shown one may wait.
    static let waitingLimit = 256
    /// The most that came while no server was there and are posted when one comes; the oldest is forgotten first.
    static let missedLimit = 64

    private typealias Place = Screen.Place

    private enum Features {
        case unknown
        case asked(ticket: UInt64)
        case known(NotificationServerInformation)
    }

    private var features = Features.unknown
    private var serverName: String?
    private var owner: String?
    private var inherited: [ShownPresentation]
    /// The handles of inherited presentations that were withdrawn before it was known whether the same server still
    /// runs.
    private var revoked: [String] = []
    private var screen = Screen()
    private var held: [Order] = []
    /// The presentations that came while no notification server was running.
    private var missed: [Presentation] = []
    private var calls: [UInt64: Order] = [:]
    private var busy: Set<Place> = []
    private var counter: UInt64 = 0

    /// - Parameter inherited: The notifications that an earlier run showed; they count only if the same server still
    ///   runs.
    init(inherited: [ShownPresentation] = []) { self.inherited = inherited }

    mutating func handle(_ event: Event) -> [Directive] {
        switch event {
        case .present(let presentation): return present(presentation)
        case .update(let presentation): return update(presentation)
        case .withdraw(let id): return withdraw(id)
        case .notified(let ticket, let serverID): return notified(ticket, serverID)
        case .notifyFailed(let ticket, let reason):
            guard let order = calls.removeValue(forKey: ticket) else { return [] }
            busy.remove(Place(order.presentation))
            miss(order)
            return order.failure(reason) + next()
        case .features(let new, let ticket):
            guard case .asked(ticket) = features else { return [] }
            features = .known(new)
            serverName = new.name
            return next()
        case .featuresFailed(let ticket, let reason):
            guard case .asked(ticket) = features else { return [] }
            features = .unknown
            let failed = held.filter { !$0.isUpdate }
            held.removeAll { !$0.isUpdate }
            for order in failed { miss(order) }
            return failed.flatMap { $0.failure(reason) }
        case .ownerChanged(let new): return ownerChanged(new)
        case .activationToken(let serverID, let token):
            screen.receive(token: token, for: serverID)
            return []
        case .actionInvoked(let serverID, let key): return invoked(serverID, key)
        case .replied(let serverID, let text): return replied(serverID, text)
        case .closed(let serverID, let reason): return closed(serverID, reason)
        case .disconnected(let reason): return disconnected(reason)
        }
    }

    // MARK: Showing

    private mutating func present(_ presentation: Presentation) -> [Directive] {
        let waiting = held.count { !$0.isUpdate } + calls.values.count { !$0.isUpdate }
        guard waiting < Self.waitingLimit else {
            let reason = "\(Self.waitingLimit) notifications wait for the desktop already"
            return [.answer(presentation.notification, .failed(reason: reason))]
        }
        held.append(Order(presentation: presentation, purpose: .first))
        return next()
    }

    /// Sends what is held, once the server is known; of one place only one at a time, so that it can be replaced.
    private mutating func next() -> [Directive] {
        guard !held.isEmpty else { return [] }
        guard case .known(let features) = features else {
            if case .asked = features { return [] }
            // To ask may start a server; the look of what an earlier one showed is no reason for that.
            guard owner != nil || held.contains(where: { !$0.isUpdate }) else { return [] }
            counter += 1
            features = .asked(ticket: counter)
            return [.askFeatures(ticket: counter)]
        }
        var directives: [Directive] = []
        var waiting: [Order] = []
        for order in held {
            let place = Place(order.presentation)
            guard !busy.contains(place) else {
                waiting.append(order)
                continue
            }
            // It has gone since, or a newer notification has replaced it.
            if order.isUpdate, screen[place]?.presentation.isSame(as: order.presentation) != true { continue }
            if order.presentation.isQuestion, !features.hasActions {
                directives += order.failure("\(features.name) shows no buttons")
                continue
            }
            busy.insert(place)
            directives.append(notify(order, replaces: screen[place]?.serverID ?? 0, features))
            directives += sound(of: order, features)
        }
        held = waiting
        return directives
    }

    private mutating func notify(_ order: Order, replaces: UInt32, _ features: NotificationServerInformation)
        -> Directive
    {
        counter += 1
        calls[counter] = order
        return .notify(NotifyMessage(order.presentation, replaces: replaces, features: features), ticket: counter)
    }

    /// Plays the sound of a first presentation on a server that plays none itself.
    private func sound(of order: Order, _ features: NotificationServerInformation) -> [Directive] {
        guard !features.playsSounds, order.presentation.sound != .silent, order.purpose == .first else { return [] }
        return [.play(order.presentation.sound, volume: order.presentation.volume)]
    }

    /// Applies a new look: at once to what has not been posted, with one update at a time to what has.
    private mutating func update(_ presentation: Presentation) -> [Directive] {
        func refresh(_ old: Presentation) -> Presentation { old.refreshed(by: presentation) }
        func isMeant(_ order: Order) -> Bool { order.presentation.isSame(as: presentation) }
        missed = missed.map(refresh)
        for index in inherited.indices { inherited[index].presentation = refresh(inherited[index].presentation) }
        for index in held.indices { held[index].presentation = refresh(held[index].presentation) }
        for (ticket, order) in calls where isMeant(order) { calls[ticket]?.presentation = refresh(order.presentation) }
        let isPosted =
            screen.refresh(presentation) || calls.values.contains(where: isMeant)
            || inherited.contains { $0.presentation.isSame(as: presentation) }
        if isPosted, !held.contains(where: { $0.isUpdate && isMeant($0) }) {
            held.append(Order(presentation: presentation.silenced, purpose: .update))
        }
        return next()
    }

    private mutating func notified(_ ticket: UInt64, _ serverID: UInt32) -> [Directive] {
        guard let order = calls.removeValue(forKey: ticket) else { return [] }
        let place = Place(order.presentation)
        busy.remove(place)
        if order.isUpdate, screen[place] == nil {
            // The notification was removed while the update was being sent; the server has shown it again.
            return [.close(serverID: serverID)] + next()
        }
        let replaced = screen.show(order.presentation, as: serverID)
        var directives: [Directive] = replaced.map { [.tell(.left($0))] } ?? []
        let outcome = PresentationOutcome.presented(handle: owner.map { "\($0) \(serverID)" }, note: serverName)
        switch order.purpose {
        case .first: directives.append(.answer(order.presentation.notification, outcome))
        // A caller that withdrew it gets no further events.
        case .again where order.isTakenBack: break
        case .again:
            directives +=
                owner.map { [.tell(.shownAgain(order.presentation.notification, handle: "\($0) \(serverID)"))] } ?? []
        case .update: break
        }
        if order.isTakenBack {
            screen.forget(serverID)
            directives.append(.close(serverID: serverID))
        }
        return directives + next()
    }

    /// Keeps a presentation while there is no server: one may be starting, as at the beginning of a session. A question
    /// that failed is settled, since its answer has no receiver any more.
    private mutating func miss(_ order: Order) {
        guard owner == nil, !order.isUpdate, !order.isTakenBack, !order.presentation.isQuestion else { return }
        missed.append(order.presentation)
        missed = missed.suffix(Self.missedLimit)
    }

    // MARK: Shown notifications

    private mutating func withdraw(_ id: NotificationID) -> [Directive] {
        // A presentation that is still queued is not shown at all; one that is being posted is closed as soon as it has
        // a number.
        missed.removeAll { $0.notification == id }
        revoked += inherited.filter { $0.presentation.notification == id }.map(\.handle)
        inherited.removeAll { $0.presentation.notification == id }
        let waiting = held.filter { $0.presentation.notification == id }
        held.removeAll { $0.presentation.notification == id }
        for (ticket, order) in calls where order.presentation.notification == id { calls[ticket]?.isTakenBack = true }
        var directives = waiting.flatMap(\.takenBack)
        if let found = screen.find(id) {
            screen.forget(found.serverID)
            directives.append(.close(serverID: found.serverID))
        }
        return directives
    }

    // MARK: Events of the server

    /// The server's ids are valid within one run of it: a new one is given again what the old one showed, and
    /// what the old one did not live to answer.
    private mutating func ownerChanged(_ new: String?) -> [Directive] {
        guard new != owner else { return [] }
        let takenBack = owner == nil ? [] : holdCalls()
        owner = new
        features = .unknown
        guard let new else { return takenBack + next() }
        let (kept, lost) = inherit(from: new)
        let again = screen.all.filter { !kept.contains($0.presentation.notification) }
        for one in again { screen.forget(one.serverID) }
        // A notification that is posted again has its new look.
        let asked = Set(calls.values.map(\.presentation.notification)).union(kept)
        held.removeAll { $0.isUpdate && !asked.contains($0.presentation.notification) }
        let repeated = (lost + again.map(\.presentation) + missed).map(\.silenced)
        held = repeated.map { Order(presentation: $0, purpose: .again) } + held
        missed = []
        return takenBack + closeRevoked(of: new) + next()
    }

    /// Closes the notifications that were withdrawn before it was known which server shows them.
    private mutating func closeRevoked(of server: String) -> [Directive] {
        defer { revoked = [] }
        return revoked.compactMap { Self.number(of: $0, at: server).map { .close(serverID: $0) } }
    }

    /// The number in a handle; `nil` for one of another server's.
    private static func number(of handle: String, at server: String) -> UInt32? {
        let parts = handle.split(separator: " ")
        return parts.count == 2 && parts[0] == server ? UInt32(parts[1]) : nil
    }

    /// Queues the unanswered calls to a server that has gone for the next one, except withdrawn presentations. Their
    /// sounds may have been played already, so they are silent from now on.
    private mutating func holdCalls() -> [Directive] {
        let open = calls.sorted { $0.key < $1.key }.map(\.value)
        (calls, busy) = ([:], [])
        let again = open.filter { !$0.isUpdate && !$0.isTakenBack }
        held =
            again.map { Order(presentation: $0.presentation.silenced, purpose: $0.purpose) }
            + held.filter { !$0.isUpdate }
        return open.filter(\.isTakenBack).flatMap(\.takenBack)
    }

    /// Takes over what an earlier run of the agent had this very server show; what it had another one show is lost.
    private mutating func inherit(from server: String) -> (kept: Set<NotificationID>, lost: [Presentation]) {
        let candidates = inherited
        inherited = []
        var kept: Set<NotificationID> = []
        var lost: [Presentation] = []
        for candidate in candidates {
            let id = candidate.presentation.notification
            if let serverID = Self.number(of: candidate.handle, at: server) {
                kept.insert(id)
                _ = screen.show(candidate.presentation, as: serverID)
            } else if !candidate.presentation.isQuestion {
                // The answer to a question of an earlier run has no receiver any more.
                lost.append(candidate.presentation)
            }
        }
        return (kept, lost)
    }

    /// Not every server closes a notification after its action, so it is closed here.
    private mutating func invoked(_ serverID: UInt32, _ key: String) -> [Directive] {
        guard let found = screen[serverID] else { return [] }
        let (presentation, token) = (found.presentation, found.activationToken)
        let id = presentation.notification
        let event: PresenterEvent
        if key == NotifyMessage.defaultAction {
            event = .opened(id, activationToken: token)
        } else if let button = presentation.buttons.first(where: { NotifyMessage.buttonPrefix + $0.identifier == key })
        {
            event = .pressed(id, button: button.identifier, activationToken: token)
        } else {
            return []
        }
        screen.forget(serverID)
        return [.tell(event), .close(serverID: serverID)]
    }

    private mutating func replied(_ serverID: UInt32, _ text: String) -> [Directive] {
        guard let presentation = screen[serverID]?.presentation,
            let button = presentation.buttons.first(where: { $0.reply != nil })
        else { return [] }
        screen.forget(serverID)
        return [
            .tell(.replied(presentation.notification, button: button.identifier, text: text)),
            .close(serverID: serverID),
        ]
    }

    /// Reasons: 1 expired, 2 dismissed by the person, 3 closed by a call, 4 undefined.
    private mutating func closed(_ serverID: UInt32, _ reason: UInt32) -> [Directive] {
        guard let found = screen[serverID] else { return [] }
        screen.forget(serverID)
        let id = found.presentation.notification
        return [.tell(reason == 2 ? .dismissed(id) : .left(id))]
    }

    private mutating func disconnected(_ reason: String) -> [Directive] {
        let open = calls.sorted { $0.key < $1.key }.map(\.value) + held
        (calls, held, busy) = ([:], [], [])
        (owner, features) = (nil, .unknown)
        for order in open { miss(order) }
        return open.flatMap { $0.failure(reason) }
    }
}
