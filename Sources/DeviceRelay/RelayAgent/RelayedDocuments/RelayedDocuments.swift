import CoreValues
import Foundation
import RelayProtocol

/// Documents that the user's devices share. The server stores them; no copy is kept here. A value; events in,
/// directives out.
///
/// Guarantees: every request of a client is answered once, within half a minute; the numbers of open and queued
/// requests are bounded.
package struct RelayedDocuments {
    /// An action for the caller to carry out, in the order of the list.
    package enum Directive: Hashable, Sendable {
        /// Ask the server, and report its response by ``RelayedDocuments/answered(_:_:at:)``.
        case ask(id: UUID, RelayDocumentRequest)
        /// Answer what a client asked.
        case answer(ClientNumber, request: Int64, RelayOutcome)
        /// Notify a watcher of a change.
        case tell(ClientNumber, request: Int64, RelayMap)
        /// Note what happened, for the person to look at later.
        case note(String, RelayStatus)
    }

    /// A request to the server.
    struct Ask {
        enum Purpose {
            /// Put a content, or remove the present document; `revision` is the one that the client gave.
            case put(RelayMap?, revision: Int64?)
            case get
            case list(after: Int64)
            /// Look from where a watcher begins, or at what is new to it.
            case watch
            /// Read a page of what the account before this one had.
            case move(after: Int64)
            /// Put one of those.
            case moved(RelaySealedDocument)
        }

        var client: ClientNumber?
        var request: Int64 = 0
        var app = ""
        var name = ""
        var purpose: Purpose
        /// The present revision according to the server.
        var present: Int64 = 0
        var attempts = 0
        var deadline: Timestamp
        var isSent = false
    }

    /// A client that is notified of changes.
    struct Watcher {
        var request: Int64
        var app: String
        /// The number of the last reported document; `nil` until the server has reported the first number.
        var number: Int64?
        var isAsking = false
        /// Whether something changed while it was being asked.
        var asksAgain = false
        /// When the request is repeated because the server has not answered; `nil` where it has, or until the next
        /// session.
        var asksAt: Timestamp?
        /// The watch requests that are unanswered because the server has not reported the first number yet.
        var unanswered: [Int64] = []
    }

    /// The account that the documents belong to; `nil` where the device belongs to none.
    package var account: AccountKey?
    /// Whether there is a session with the server.
    package var isConnected = false
    var asks: [UUID: Ask] = [:]
    var waiting: [UUID] = []
    var underWay = 0
    var watchers: [ClientNumber: Watcher] = [:]
    /// The account whose documents are still to be put under the present one, how far that is, and what was read and is
    /// not put.
    var former: (account: AccountKey, number: Int64)?
    var read: [RelaySealedDocument] = []
    var isMoving = false
    /// When it is gone on with; `nil` where it goes on, or the next session is waited for.
    var movesAt: Timestamp?
    var directives: [Directive] = []

    /// How much is asked of the server at a time, how much waits for that, and how often a put is tried against others.
    static var atOnce: Int { 8 }
    static var waitingLimit: Int { 256 }
    static var attemptLimit: Int { 16 }
    /// How long the server's answer is waited for.
    static var timeout: Duration { .seconds(30) }
    /// The pause before a watcher's request, or the move of a document, is repeated.
    static var watcherPause: Duration { .seconds(5) }
    static var movePause: Duration { .seconds(30) }

    /// No requests, and no watchers.
    package init() {}

    /// Takes the directives that were added since the last call.
    package mutating func takeDirectives() -> [Directive] {
        defer { directives = [] }
        return directives
    }

    // MARK: Clients

    /// Takes what an app or a terminal asks.
    ///
    /// - Parameter app: The app whose documents are meant; `nil` refuses it.
    package mutating func take(
        _ order: RelayDocumentOrder, _ request: Int64, of client: ClientNumber, app: String?, at now: Timestamp
    ) {
        func refusal(_ ask: Ask) -> RelayOutcome? {
            if case .list = ask.purpose { return nil }
            if let fault = RelayDocument.fault(ofName: ask.name) {
                return RelayOutcome(.tooLarge, detail: fault.description)
            }
            guard case .put(let content, let revision) = ask.purpose else { return nil }
            if let content, let fault = RelayDocument(app: ask.app, name: ask.name, content: content).fault {
                return RelayOutcome(.tooLarge, detail: fault.words(of: "the document's content"))
            }
            guard (0..<Int64.max).contains(revision ?? 0) else {
                return RelayOutcome(.failed, detail: "a revision is 0 or more")
            }
            return nil
        }
        guard let app, app.utf8.count <= RelayDocument.appLimit else {
            let detail = "the id of an app that has documents has at most \(RelayDocument.appLimit) bytes of UTF-8"
            return answer(client, request: request, RelayOutcome(.tooLarge, detail: detail))
        }
        guard asks.count < Self.waitingLimit else {
            return answer(
                client, request: request, RelayOutcome(.resourceLimits, detail: "too much is asked at a time"))
        }
        var ask = Ask(client: client, request: request, app: app, purpose: .get, deadline: now + Self.timeout)
        switch order {
        case .put(let name, let content, let revision):
            ask.name = name
            ask.purpose = .put(content, revision: revision)
            ask.present = max(0, revision ?? 0)
        case .remove(let name, let revision):
            ask.name = name
            ask.purpose = .put(nil, revision: revision)
            ask.present = max(0, revision ?? 0)
        case .get(let name): ask.name = name
        case .list(let place): ask.purpose = .list(after: max(0, place))
        case .watch: return watch(request, client: client, app: app, at: now)
        }
        if let refusal = refusal(ask) { return answer(client, request: request, refusal) }
        add(ask)
    }

    /// A client is gone.
    package mutating func removeClient(_ client: ClientNumber) {
        watchers[client] = nil
        for (id, ask) in asks where ask.client == client { asks[id]?.client = nil }
    }

    mutating func answer(_ client: ClientNumber, request: Int64, _ outcome: RelayOutcome) {
        directives.append(.answer(client, request: request, outcome))
    }

    mutating func settle(_ ask: Ask, _ outcome: RelayOutcome) {
        guard let client = ask.client else { return }
        answer(client, request: ask.request, outcome)
    }

    // MARK: The server

    mutating func add(_ ask: Ask) {
        let id = UUID.random()
        asks[id] = ask
        waiting.append(id)
        askNext()
    }

    mutating func askNext() {
        while underWay < Self.atOnce, !waiting.isEmpty, isConnected {
            let id = waiting.removeFirst()
            guard let ask = asks[id] else { continue }
            guard let asked = asked(ask) else {
                asks[id] = nil
                settle(ask, RelayOutcome(.failed, detail: "it could not be sealed for the person's devices"))
                continue
            }
            asks[id]?.isSent = true
            underWay += 1
            directives.append(.ask(id: id, asked))
        }
    }

    private func asked(_ ask: Ask) -> RelayDocumentRequest? {
        guard let seals = account?.documents else { return nil }
        switch ask.purpose {
        case .get: return .get(key: seals.key(app: ask.app, name: ask.name))
        case .list(let number): return .list(after: number)
        case .watch: return .list(after: ask.client.flatMap { watchers[$0]?.number } ?? .max)
        case .move(let number): return .list(after: number, token: former?.account.accessToken)
        case .moved(let sealed): return .put(sealed, over: 0)
        case .put(let content, _):
            let document = RelayDocument(app: ask.app, name: ask.name, content: content)
            guard let sealed = try? seals.sealed(document, revision: ask.present + 1) else { return nil }
            return .put(sealed, over: ask.present)
        }
    }

    /// The session, or the account, is another one.
    package mutating func lost() {
        let open = asks.values
        asks = [:]
        waiting = []
        underWay = 0
        restMove(until: nil)
        for ask in open { settle(ask, Self.lostOutcome(ask)) }
        for (client, watcher) in watchers {
            watchers[client]?.isAsking = false
            watchers[client]?.asksAt = nil
            guard watcher.number == nil else { continue }
            watchers[client] = nil
            for request in watcher.unanswered { answer(client, request: request, RelayOutcome(.networkUnavailable)) }
        }
    }

    private static func lostOutcome(_ ask: Ask) -> RelayOutcome {
        if case .put = ask.purpose, ask.isSent {
            return RelayOutcome(.outcomeUnknown, detail: "the way to the server was lost before it answered")
        }
        return RelayOutcome(.networkUnavailable, detail: "the way to the server was lost")
    }

    // MARK: Time

    /// The time at which ``due(at:)`` is to be called next; `nil` where nothing is pending.
    package var nextMoment: Timestamp? {
        var next = movesAt
        for ask in asks.values { next = min(next ?? .distantFuture, ask.deadline) }
        for case let moment? in watchers.values.lazy.map(\.asksAt) { next = min(next ?? .distantFuture, moment) }
        return next
    }

    /// Ends what the server has not answered in time, and asks again what is to be.
    package mutating func due(at now: Timestamp) {
        for (id, ask) in asks where ask.deadline <= now {
            asks[id] = nil
            if ask.isSent { underWay -= 1 }
            switch ask.purpose {
            case .watch: if let client = ask.client { notAsked(client, why: Self.lostOutcome(ask), at: now) }
            case .move, .moved: restMove(until: now + Self.movePause)
            default: settle(ask, Self.lostOutcome(ask))
            }
        }
        waiting.removeAll { asks[$0] == nil }
        lookForWatchersDue(at: now)
        if let moment = movesAt, moment <= now { resumeMove(at: now) }
        askNext()
    }
}
