import Foundation
import Relay
import RelayTrust
import RelayWire

/// Documents that the person's devices share. The server keeps them; nothing of them stays here. A value; events in, directives out.
///
/// Guarantees: every ask of a client is answered once, in half a minute; what is under way, and what waits for that, is bounded.
package struct RelayedDocuments {
    /// What is to be done, in order.
    package enum Directive: Hashable, Sendable {
        /// Ask the server, and tell by ``RelayedDocuments/answered(_:_:at:)`` what it said.
        case ask(id: UUID, RelayDocumentAsk)
        /// Answer what a client asked.
        case answer(ClientNumber, request: Int64, RelayOutcome)
        /// Tell a watcher of a change.
        case tell(ClientNumber, request: Int64, RelayMap)
        /// Note what happened, for the person to look at later.
        case note(String, RelayStatus)
    }

    /// What is asked of the server.
    struct Ask {
        enum Purpose {
            /// Put a content, or remove what is there; `revision` as the client said it.
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
        /// What the server said the present revision is.
        var present: Int64 = 0
        var attempts = 0
        var deadline: Int64
        var isSent = false
    }

    /// Who hears of changes.
    struct Watcher {
        var request: Int64
        var app: String
        /// The number of what it was told last; `nil` until the server has told where it begins.
        var number: Int64?
        var isAsking = false
        /// Whether something changed while it was being asked.
        var asksAgain = false
        /// When it is asked again since the server has not told; `nil` where it has, or where the next session is waited for.
        var asksAt: Int64?
        /// What the client asked that is not answered, since the server has yet to tell where it begins.
        var unanswered: [Int64] = []
    }

    /// The account whose documents they are; `nil` where the device is nobody's.
    package var account: AccountKey?
    /// Whether there is a session with the server.
    package var isConnected = false
    var asks: [UUID: Ask] = [:]
    var waiting: [UUID] = []
    var underWay = 0
    var watchers: [ClientNumber: Watcher] = [:]
    /// The account whose documents are still to be put under the present one, how far that is, and what was read and is not put.
    var former: (account: AccountKey, number: Int64)?
    var read: [RelaySealedDocument] = []
    var isMoving = false
    /// When it is gone on with; `nil` where it goes on, or the next session is waited for.
    var movesAt: Int64?
    var directives: [Directive] = []

    /// How much is asked of the server at a time, how much waits for that, and how often a put is tried against others.
    static var atOnce: Int { 8 }
    static var waitingLimit: Int { 256 }
    static var attemptLimit: Int { 16 }
    /// How long the server's answer is waited for, in milliseconds.
    static var patience: Int64 { 30_000 }
    /// How long after the server has not told what is new to a watcher, or has not moved a document, it is asked again, in milliseconds.
    static var watcherPause: Int64 { 5_000 }
    static var movePause: Int64 { 30_000 }

    /// Nothing is asked, and nobody watches.
    package init() {}

    /// What is to be done since this was asked last.
    package mutating func takeDirectives() -> [Directive] {
        defer { directives = [] }
        return directives
    }

    // MARK: Clients

    /// Takes what an app or a terminal asks.
    ///
    /// - Parameter app: The app whose documents are meant; `nil` refuses it.
    package mutating func take(
        _ order: RelayDocumentOrder, _ request: Int64, of client: ClientNumber, app: String?, at now: Int64
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
            return answer(client, request, RelayOutcome(.tooLarge, detail: detail))
        }
        guard asks.count < Self.waitingLimit else {
            return answer(client, request, RelayOutcome(.resourceLimits, detail: "too much is asked at a time"))
        }
        var ask = Ask(client: client, request: request, app: app, purpose: .get, deadline: now + Self.patience)
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
        case .watch: return watch(request, client, app, now)
        }
        if let refusal = refusal(ask) { return answer(client, request, refusal) }
        add(ask)
    }

    /// A client is gone.
    package mutating func ended(_ client: ClientNumber) {
        watchers[client] = nil
        for (id, ask) in asks where ask.client == client { asks[id]?.client = nil }
    }

    mutating func answer(_ client: ClientNumber, _ request: Int64, _ outcome: RelayOutcome) {
        directives.append(.answer(client, request: request, outcome))
    }

    mutating func settle(_ ask: Ask, _ outcome: RelayOutcome) {
        guard let client = ask.client else { return }
        answer(client, ask.request, outcome)
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

    private func asked(_ ask: Ask) -> RelayDocumentAsk? {
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
            for request in watcher.unanswered { answer(client, request, RelayOutcome(.networkUnavailable)) }
        }
    }

    private static func lostOutcome(_ ask: Ask) -> RelayOutcome {
        if case .put = ask.purpose, ask.isSent {
            return RelayOutcome(.outcomeUnknown, detail: "the way to the server was lost before it answered")
        }
        return RelayOutcome(.networkUnavailable, detail: "the way to the server was lost")
    }

    // MARK: Time

    /// When ``due(at:)`` is to be told the time next; `nil` where nothing is under way.
    package var nextMoment: Int64? {
        (asks.values.map(\.deadline) + watchers.values.compactMap(\.asksAt) + [movesAt].compactMap { $0 }).min()
    }

    /// Ends what the server has not answered in time, and asks again what is to be.
    package mutating func due(at now: Int64) {
        for (id, ask) in asks where ask.deadline <= now {
            asks[id] = nil
            if ask.isSent { underWay -= 1 }
            switch ask.purpose {
            case .watch: if let client = ask.client { notAsked(client, Self.lostOutcome(ask), now) }
            case .move, .moved: restMove(until: now + Self.movePause)
            default: settle(ask, Self.lostOutcome(ask))
            }
        }
        waiting.removeAll { asks[$0] == nil }
        lookForWatchersDue(now)
        if let moment = movesAt, moment <= now { resumeMove(at: now) }
        askNext()
    }
}
