import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

/// Documents at the device that asks for them; the test plays the server.
@Suite struct RelayedDocumentsTests {
    typealias Documents = RelayedDocuments

    let account = AccountKey()
    var documents = Documents()

    init() {
        documents.account = account
        documents.isConnected = true
    }

    private mutating func order(_ order: RelayDocumentOrder) -> [Documents.Directive] {
        documents.take(order, 5, of: 1, app: "a.b", at: 0)
        return documents.takeDirectives()
    }

    private mutating func answer(_ id: UUID, _ told: RelayDocumentAnswer) -> [Documents.Directive] {
        documents.answered(id, told, at: 0)
        return documents.takeDirectives()
    }

    private mutating func begin() -> [Documents.Directive] {
        documents.lost()
        documents.resumeMove(at: 0)
        return documents.takeDirectives()
    }

    private func asks(_ directives: [Documents.Directive]) -> [(id: UUID, ask: RelayDocumentRequest)] {
        directives.compactMap { if case .ask(let id, let ask) = $0 { (id, ask) } else { nil } }
    }

    private func answers(_ directives: [Documents.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .answer(_, _, let outcome) = $0 { outcome } else { nil } }
    }

    private func put(_ ask: RelayDocumentRequest?) throws -> (document: RelaySealedDocument, over: Int64) {
        var found: (document: RelaySealedDocument, over: Int64)?
        if case .put(let document, let over)? = ask { found = (document, over) }
        return try #require(found)
    }

    @Test("A put without a revision follows what is there, whatever the server says", arguments: [7, Int64.max, -1])
    mutating func conflict(present: Int64) throws {
        let first = try #require(asks(order(.put(name: "n", content: ["a": 1], revision: nil))).first)
        #expect(try put(first.ask).over == 0)
        let next = answer(first.id, .conflict(present: present, isRemoved: false))
        guard present == 7 else {
            #expect(answers(next).map(\.status) == [.conflict])
            #expect(asks(next).isEmpty)
            return
        }
        let again = try #require(asks(next).first)
        let (document, over) = try put(again.ask)
        #expect(over == 7 && document.revision == 8)
        #expect(account.documents.decrypted(document)?.content == ["a": 1])
        #expect(answers(answer(again.id, .kept(revision: 8))).map(\.status) == [.success])
    }

    @Test("What was put under another key, or under another revision, is told as what does not open")
    mutating func unreadable() throws {
        let document = RelayDocument(app: "a.b", name: "n", content: ["a": 1])
        let foreign = try AccountKey().documents.sealed(document, revision: 3)
        var older = try account.documents.sealed(document, revision: 3)
        older.revision = 4
        for sealed in [foreign, older] {
            let ask = try #require(asks(order(.get(name: "n"))).first)
            let told = answer(ask.id, .documents([sealed], isAll: true, last: 9))
            #expect(answers(told).map(\.status) == [.failed])
        }
        let ask = try #require(asks(order(.get(name: "n"))).first)
        let right = try account.documents.sealed(document, revision: 3)
        let told = answer(ask.id, .documents([right], isAll: true, last: 9))
        #expect(answers(told).first?.message?["content"] == .dictionary(["a": 1]))
    }

    /// Has the time come, and what follows from it.
    private mutating func wait(until now: Timestamp) -> [Documents.Directive] {
        documents.due(at: now)
        return documents.takeDirectives()
    }

    private mutating func watcher(from number: Int64 = 4) throws {
        let ask = try #require(asks(order(.watch)).first)
        #expect(ask.ask == .list(after: .max))
        #expect(answers(answer(ask.id, .documents([], isAll: true, last: number))).map(\.status) == [.success])
        #expect(documents.nextMoment == nil)
    }

    @Test("What is new to a watcher and was not told is asked for again by the clock", arguments: [true, false])
    mutating func watcherAgain(isRefused: Bool) throws {
        try watcher()
        documents.changed(at: 0)
        let ask = try #require(asks(documents.takeDirectives()).first)
        var now: Timestamp = 0
        if isRefused {
            #expect(asks(answer(ask.id, .refused(.busy))).isEmpty)
        } else {
            now = 30_000
            #expect(documents.nextMoment == now)
            #expect(wait(until: now).isEmpty)
        }
        #expect(documents.nextMoment == now + 5_000)
        #expect(wait(until: now + 4_999).isEmpty)
        let again = try #require(asks(wait(until: now + 5_000)).first)
        #expect(again.ask == .list(after: 4))
        var sealed = try account.documents.sealed(RelayDocument(app: "a.b", name: "n", content: ["a": 1]), revision: 1)
        sealed.number = 9
        let told = answer(again.id, .documents([sealed], isAll: true, last: 9))
        #expect(told.contains { if case .tell(1, 5, let news) = $0 { news["name"] == "n" } else { false } })
        #expect(documents.nextMoment == nil)
    }

    @Test("A watcher that could not begin hears of it once, and is not asked for again")
    mutating func watcherNotBegun() throws {
        #expect(asks(order(.watch)).count == 1)
        #expect(answers(wait(until: 30_000)).map(\.status) == [.networkUnavailable])
        #expect(documents.nextMoment == nil && documents.watchers.isEmpty)
    }

    @Test(
        "What cannot be kept is refused before it is asked, with the limit in bytes",
        arguments: [
            ("a.b", String(repeating: "ü", count: 65), "1 to 128 bytes of UTF-8"),
            ("a.b", "", "1 to 128 bytes of UTF-8"),
            (String(repeating: "a", count: 256), "n", "at most 255 bytes of UTF-8"),
        ])
    mutating func limits(app: String, name: String, words: String) {
        documents.take(.put(name: name, content: [:], revision: nil), 5, of: 1, app: app, at: 0)
        let told = answers(documents.takeDirectives())
        #expect(told.map(\.status) == [.tooLarge] && told.first?.detail?.contains(words) == true)
        #expect(documents.asks.isEmpty)
    }

    @Test("What waits for the server is bounded, and all of it ends with the session")
    mutating func waiting() {
        for _ in 0..<Documents.waitingLimit { _ = order(.get(name: "n")) }
        #expect(documents.underWay == Documents.atOnce)
        #expect(answers(order(.get(name: "n"))).map(\.status) == [.resourceLimits])
        documents.lost()
        let told = answers(documents.takeDirectives())
        #expect(told.count == Documents.waitingLimit && told.allSatisfy { $0.status == .networkUnavailable })
        #expect(documents.asks.isEmpty && documents.nextMoment == nil)
    }

    @Test("Every ask to watch is answered, also of one who watches already")
    mutating func watchingTwice() throws {
        let ask = try #require(asks(order(.watch)).first)
        #expect(order(.watch).isEmpty)
        let begun = answer(ask.id, .documents([], isAll: true, last: 3))
        #expect(answers(begun).map(\.status) == [.success, .success])
        let more = order(.watch)
        #expect(answers(more).map(\.status) == [.success] && asks(more).isEmpty)
    }

    @Test("What the account before had is put by the clock, too, where the server was busy")
    mutating func moveAgain() throws {
        documents.move(from: AccountKey())
        let page = try #require(asks(begin()).first)
        #expect(asks(answer(page.id, .refused(.busy))).isEmpty)
        #expect(documents.nextMoment == 30_000)
        let again = try #require(asks(wait(until: 30_000)).first)
        #expect(answer(again.id, .documents([], isAll: true, last: 0)).isEmpty)
        #expect(documents.nextMoment == nil && asks(begin()).isEmpty)
    }

    @Test("A page of the account before that is refused is asked for in the next session, not again at once")
    mutating func move() throws {
        let former = AccountKey()
        documents.move(from: former)
        let page = try #require(asks(begin()).first)
        #expect(page.ask == .list(after: 0, token: former.accessToken))
        #expect(asks(answer(page.id, .refused(.notKept))).isEmpty)
        let again = try #require(asks(begin()).first)
        let document = RelayDocument(app: "a.b", name: "n", content: ["a": 1])
        let sealed = try former.documents.sealed(document, revision: 3)
        let moved = answer(again.id, .documents([sealed], isAll: true, last: 9))
        let (kept, over) = try put(asks(moved).first?.ask)
        #expect(over == 0 && kept.revision == 3)
        #expect(account.documents.decrypted(kept) == document)
    }
}
