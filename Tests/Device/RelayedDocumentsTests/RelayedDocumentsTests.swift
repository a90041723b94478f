import Foundation
import RelayTrust
import RelayWire
import Testing

@testable import RelayedDocuments

/// Documents at the device that asks for them; the test plays the server.
@Suite struct RelayedDocumentsTests {
    typealias Documents = RelayedDocuments<Int>

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

    private func asks(_ directives: [Documents.Directive]) -> [(id: UUID, ask: RelayDocumentAsk)] {
        directives.compactMap { if case .ask(let id, let ask) = $0 { (id, ask) } else { nil } }
    }

    private func answers(_ directives: [Documents.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .answer(_, _, let outcome) = $0 { outcome } else { nil } }
    }

    private func put(_ ask: RelayDocumentAsk?) throws -> (document: RelaySealedDocument, over: Int64) {
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
        #expect(account.documents.opened(document)?.content == ["a": 1])
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
        #expect(account.documents.opened(kept) == document)
    }
}
