import Foundation
import RelayTrust
import RelayWire

/// Documents that the person's devices share. The server keeps them; nothing of them stays here.
extension RelayHost {
    /// What is asked of the server.
    struct DocumentAsk {
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

        var client: Client?
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
    struct DocumentWatcher {
        var request: Int64
        var app: String
        /// The number of what it was told last; `nil` until the server has told where it begins.
        var number: Int64?
        var isAsking = false
        /// Whether something changed while it was being asked.
        var asksAgain = false
    }

    /// What is under way about documents.
    struct Documents {
        var asks: [UUID: DocumentAsk] = [:]
        var waiting: [UUID] = []
        var underWay = 0
        var watchers: [Client: DocumentWatcher] = [:]
        /// The account whose documents are still to be put under the present one, how far that is, and what was read and is not put.
        var former: (account: AccountKey, number: Int64)?
        var read: [RelaySealedDocument] = []
        var isMoving = false
    }

    /// How much is asked of the server at a time, how much waits for that, and how often a put is tried against others.
    static var documentsAtOnce: Int { 8 }
    static var documentsWaiting: Int { 256 }
    static var documentAttempts: Int { 16 }

    /// Takes what an app or a terminal asks.
    mutating func document(_ order: RelayDocumentOrder, _ number: Int64, _ client: Client, _ now: Int64) {
        guard settings.account != nil, devices != nil else {
            return answer(
                client, number,
                RelayOutcome(.networkUnavailable, detail: obstacle?.why ?? "there is no way to the server now"))
        }
        guard let app = members[client]?.app, app.utf8.count <= RelayDocument.appLimit,
            documents.asks.count < Self.documentsWaiting
        else { return answer(client, number, RelayOutcome(.resourceLimits, detail: "too much is asked at a time")) }
        var ask = DocumentAsk(
            client: client, request: number, app: app, purpose: .get, deadline: now + Self.patience)
        switch order {
        case .put(let name, let content, let revision):
            ask.name = name
            ask.purpose = .put(content, revision: revision)
            ask.present = max(0, revision ?? 0)
            if let fault = RelayDocument(app: app, name: name, content: content).fault {
                return answer(client, number, RelayOutcome(.tooLarge, detail: fault.description))
            }
        case .remove(let name, let revision):
            ask.name = name
            ask.purpose = .put(nil, revision: revision)
            ask.present = max(0, revision ?? 0)
        case .get(let name): ask.name = name
        case .list(let place): ask.purpose = .list(after: max(0, place))
        case .watch:
            documents.watchers[client] = DocumentWatcher(request: number, app: app)
            return lookForWatcher(client, now)
        }
        if !isList(ask), let fault = RelayDocument.fault(ofName: ask.name) {
            return answer(client, number, RelayOutcome(.tooLarge, detail: fault.description))
        }
        if case .put(_, let revision?) = ask.purpose, !(0..<Int64.max).contains(revision) {
            return answer(client, number, RelayOutcome(.failed, detail: "a revision is 0 or more"))
        }
        add(ask)
    }

    private func isList(_ ask: DocumentAsk) -> Bool { if case .list = ask.purpose { true } else { false } }

    private mutating func add(_ ask: DocumentAsk) {
        let id = UUID.random()
        documents.asks[id] = ask
        documents.waiting.append(id)
        askNextDocuments()
    }

    private mutating func askNextDocuments() {
        while documents.underWay < Self.documentsAtOnce, !documents.waiting.isEmpty, devices != nil {
            let id = documents.waiting.removeFirst()
            guard let ask = documents.asks[id] else { continue }
            guard let asked = asked(ask) else {
                documents.asks[id] = nil
                settle(ask, RelayOutcome(.failed, detail: "it could not be sealed for the person's devices"))
                continue
            }
            documents.asks[id]?.isSent = true
            documents.underWay += 1
            directives.append(.send(.documentAsk(id: id, asked)))
        }
    }

    private func asked(_ ask: DocumentAsk) -> RelayDocumentAsk? {
        guard let seals = settings.account?.documents else { return nil }
        let key = seals.key(app: ask.app, name: ask.name)
        switch ask.purpose {
        case .get: return .get(key: key)
        case .list(let number): return .list(after: number)
        case .watch: return .list(after: ask.client.flatMap { documents.watchers[$0]?.number } ?? .max)
        case .move(let number): return .list(after: number, token: documents.former?.account.accessToken)
        case .moved(let sealed): return .put(sealed, over: 0)
        case .put(let content, _):
            let document = RelayDocument(app: ask.app, name: ask.name, content: content)
            guard let sealed = try? seals.sealed(document, revision: ask.present + 1) else { return nil }
            return .put(sealed, over: ask.present)
        }
    }

    // MARK: Answers

    /// The server has answered.
    mutating func documentAnswered(_ id: UUID, _ told: RelayDocumentAnswer, _ now: Int64) {
        guard let ask = documents.asks.removeValue(forKey: id), ask.isSent else { return }
        documents.underWay -= 1
        defer { askNextDocuments() }
        switch (ask.purpose, told) {
        case (.watch, _): watched(told, by: ask.client, now)
        case (.move, .documents(let page, let isAll, _)): moveRead(page, isAll: isAll, now)
        case (.move, .refused), (.moved, .refused(.notKept)), (.moved, .refused(.notJoined)), (.moved, .refused(.busy)):
            restMove()
        case (.moved, .refused(.full)):
            note("a document for the next key of the account: there was no room", .resourceLimits)
            moveOn(now)
        case (.move, _), (.moved, _): moveOn(now)
        case (_, .refused(let why)): settle(ask, Self.outcome(why))
        case (.put, .kept(let kept)):
            settle(ask, RelayOutcome(.success, message: ["revision": .integer(kept)]))
        case (.put(let content, let revision), .conflict(let present, let isRemoved)):
            conflicted(ask, content, revision, present, isRemoved)
        case (.get, .documents(let page, _, _)): settle(ask, got(page.first))
        case (.list, .documents(let page, let isAll, _)): settle(ask, listed(page, isAll: isAll, for: ask.app))
        default: settle(ask, RelayOutcome(.failed, detail: "the server's answer is to something else"))
        }
    }

    private mutating func settle(_ ask: DocumentAsk, _ outcome: RelayOutcome) {
        guard let client = ask.client else { return }
        answer(client, ask.request, outcome)
    }

    private static func outcome(_ why: RelayDocumentAnswer.Refusal) -> RelayOutcome {
        switch why {
        case .full:
            RelayOutcome(.resourceLimits, detail: "an account has at most 1,000 documents and 4 MiB of them")
        case .notKept: RelayOutcome(.notDelivered, detail: "the server could not write or read it")
        case .notJoined: RelayOutcome(.networkUnavailable, detail: "the server does not know this device's account")
        case .busy: RelayOutcome(.resourceLimits, detail: "too much is asked of the server at a time")
        }
    }

    /// What is put over anything is put over what is there now; what is put where nothing is, over the number of what was removed.
    private mutating func conflicted(
        _ ask: DocumentAsk, _ content: RelayMap?, _ revision: Int64?, _ present: Int64, _ isRemoved: Bool
    ) {
        if content == nil, isRemoved, revision == nil || revision == 0 || revision == present {
            return settle(ask, RelayOutcome(.notFound, detail: "there is no document of this name"))
        }
        let mayRetry = revision == nil || revision == 0 && isRemoved
        guard mayRetry, ask.attempts < Self.documentAttempts, (0..<Int64.max).contains(present) else {
            let shown = isRemoved ? 0 : present
            return settle(
                ask,
                RelayOutcome(
                    .conflict, message: ["revision": .integer(shown)],
                    detail: isRemoved
                        ? "there is no document of this name" : "the present revision is \(present)"))
        }
        var again = ask
        again.present = present
        again.attempts += 1
        again.isSent = false
        add(again)
    }

    private func got(_ sealed: RelaySealedDocument?) -> RelayOutcome {
        guard let sealed, !sealed.isRemoved else {
            return RelayOutcome(.notFound, detail: "there is no document of this name")
        }
        guard let document = settings.account?.documents.opened(sealed), let content = document.content else {
            return RelayOutcome(
                .failed, detail: "the document is there and cannot be opened: none of your devices sealed it like that")
        }
        return RelayOutcome(
            .success,
            message: [
                "name": .string(document.name), "revision": .integer(sealed.revision),
                "content": .dictionary(content),
            ])
    }

    private func listed(_ page: [RelaySealedDocument], isAll: Bool, for app: String) -> RelayOutcome {
        var told: [RelayValue] = []
        var unreadable: Int64 = 0
        for sealed in page where !sealed.isRemoved {
            guard let document = settings.account?.documents.opened(sealed) else {
                unreadable += 1
                continue
            }
            guard document.app == app else { continue }
            let size =
                (try? RelayEncoder.encode(document.content ?? [:], limits: RelayDocument.contentLimits))?.count ?? 0
            told.append([
                "name": .string(document.name), "revision": .integer(sealed.revision), "bytes": .integer(Int64(size)),
            ])
        }
        var message: RelayMap = ["documents": .array(told), "unreadable": .integer(unreadable)]
        if !isAll, let last = page.last { message["next"] = .integer(last.number) }
        return RelayOutcome(.success, message: message)
    }

    // MARK: Watchers

    /// Asks what is new to all watchers: something changed, or the session is a new one.
    mutating func documentsChanged(_ now: Int64) {
        for client in documents.watchers.keys { lookForWatcher(client, now) }
    }

    private mutating func lookForWatcher(_ client: Client, _ now: Int64) {
        guard let watcher = documents.watchers[client] else { return }
        guard !watcher.isAsking else {
            documents.watchers[client]?.asksAgain = true
            return
        }
        documents.watchers[client]?.isAsking = true
        documents.watchers[client]?.asksAgain = false
        add(DocumentAsk(client: client, app: watcher.app, purpose: .watch, deadline: now + Self.patience))
    }

    private mutating func watched(_ told: RelayDocumentAnswer, by client: Client?, _ now: Int64) {
        guard let client, var watcher = documents.watchers[client] else { return }
        watcher.isAsking = false
        guard case .documents(let page, let isAll, let last) = told else {
            documents.watchers[client] = watcher
            if watcher.number == nil {
                documents.watchers[client] = nil
                if case .refused(let why) = told { answer(client, watcher.request, Self.outcome(why)) }
            }
            return
        }
        let asksAgain = watcher.asksAgain || !isAll
        if let number = watcher.number {
            for sealed in page { tellChange(sealed, watcher, client) }
            // A server that began anew counts anew: all that is there is told.
            watcher.number = last < number ? 0 : page.last?.number ?? number
            documents.watchers[client] = watcher
            if asksAgain || last < number { lookForWatcher(client, now) }
        } else {
            watcher.number = last
            documents.watchers[client] = watcher
            answer(client, watcher.request, RelayOutcome(.success))
            if watcher.asksAgain { lookForWatcher(client, now) }
        }
    }

    private mutating func tellChange(_ sealed: RelaySealedDocument, _ watcher: DocumentWatcher, _ client: Client) {
        var news: RelayMap = ["revision": .integer(sealed.revision)]
        if let document = settings.account?.documents.opened(sealed) {
            guard document.app == watcher.app else { return }
            news["name"] = .string(document.name)
            news["removed"] = .bool(sealed.isRemoved)
            news.merge(document.content.map { ["content": .dictionary($0)] } ?? [:]) { $1 }
        } else {
            // Whose it is cannot be told either.
            news["unreadable"] = true
        }
        directives.append(.tell(client, .told(request: watcher.request, news)))
    }

    // MARK: Ends

    /// The session, or the account, is another one.
    mutating func documentsLost() {
        let asks = documents.asks.values
        documents.asks = [:]
        documents.waiting = []
        documents.underWay = 0
        restMove()
        for client in documents.watchers.keys { documents.watchers[client]?.isAsking = false }
        for ask in asks { settle(ask, Self.lostOutcome(ask)) }
        for (client, watcher) in documents.watchers where watcher.number == nil {
            documents.watchers[client] = nil
            answer(client, watcher.request, RelayOutcome(.networkUnavailable))
        }
    }

    private static func lostOutcome(_ ask: DocumentAsk) -> RelayOutcome {
        if case .put = ask.purpose, ask.isSent {
            return RelayOutcome(.outcomeUnknown, detail: "the way to the server was lost before it answered")
        }
        return RelayOutcome(.networkUnavailable, detail: "the way to the server was lost")
    }

    /// When to look next at what is not answered.
    var nextDocumentMoment: Int64? { documents.asks.values.map(\.deadline).min() }

    /// Ends what the server has not answered in time.
    mutating func endDocumentAsks(_ now: Int64) {
        let late = documents.asks.filter { $0.value.deadline <= now }
        guard !late.isEmpty else { return }
        for (id, ask) in late {
            documents.asks[id] = nil
            if ask.isSent { documents.underWay -= 1 }
            switch ask.purpose {
            case .watch: if let client = ask.client { documents.watchers[client]?.isAsking = false }
            case .move, .moved: restMove()
            default: settle(ask, Self.lostOutcome(ask))
            }
        }
        documents.waiting.removeAll { documents.asks[$0] == nil }
        askNextDocuments()
    }

    /// A client is gone.
    mutating func documentsEnded(_ client: Client) {
        documents.watchers[client] = nil
        for (id, ask) in documents.asks where ask.client == client { documents.asks[id]?.client = nil }
    }

    // MARK: Another key

    /// The account has another key by this device's word: what the one before had is put under it.
    mutating func moveDocuments(from account: AccountKey) {
        documents.former = (account, 0)
        documents.read = []
        documents.isMoving = false
    }

    /// Ends the look at them until the next session, in which it begins anew: what is put already is there then.
    private mutating func restMove() {
        documents.former?.number = 0
        documents.read = []
        documents.isMoving = false
    }

    private mutating func note(_ what: String, _ status: RelayStatus) {
        directives.append(.note(RelayLogEntry(device: "", what: what, status: status)))
    }

    /// Goes on with that where there is a session.
    mutating func resumeMove(_ now: Int64) {
        guard documents.former != nil, !documents.isMoving, devices != nil else { return }
        documents.isMoving = true
        moveOn(now)
    }

    private mutating func moveRead(_ page: [RelaySealedDocument], isAll: Bool, _ now: Int64) {
        guard let former = documents.former else { return }
        documents.read = page.filter { !$0.isRemoved }
        documents.former?.number = page.last?.number ?? former.number
        if isAll && documents.read.isEmpty { documents.former = nil }
        moveOn(now)
    }

    private mutating func moveOn(_ now: Int64) {
        guard let former = documents.former else {
            documents.isMoving = false
            return
        }
        while !documents.read.isEmpty {
            let sealed = documents.read.removeFirst()
            guard let document = former.account.documents.opened(sealed),
                let again = try? settings.account?.documents.sealed(document, revision: sealed.revision)
            else {
                note("a document for the next key of the account: it does not open", .failed)
                continue
            }
            return add(DocumentAsk(purpose: .moved(again), deadline: now + Self.patience))
        }
        add(DocumentAsk(purpose: .move(after: former.number), deadline: now + Self.patience))
    }
}
