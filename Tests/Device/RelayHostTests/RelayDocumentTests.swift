import Foundation
import RelayTrust
import RelayWire
import Testing

@testable import RelayHost

/// Documents at the device that asks for them; the test plays the server.
@Suite struct RelayDocumentTests {
    typealias Host = RelayHost<Int>

    let account = AccountKey()
    var host: Host

    init() { host = Host(settings: RelaySettings(name: "here", account: account)) }

    private mutating func connect() -> [Host.Directive] {
        _ = host.sessionOpened(at: 0)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        return host.received(.welcome(device: "1", revision: 1, devices: [here]), at: 0)
    }

    private mutating func order(_ order: RelayDocumentOrder) -> [Host.Directive] {
        host.take(.document(request: 5, order), from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
    }

    private func asks(_ directives: [Host.Directive]) -> [(id: UUID, ask: RelayDocumentAsk)] {
        directives.compactMap { if case .send(.documentAsk(let id, let ask)) = $0 { (id, ask) } else { nil } }
    }

    private func answers(_ directives: [Host.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .tell(_, .answered(_, _, let outcome)) = $0 { outcome } else { nil } }
    }

    private func put(_ ask: RelayDocumentAsk?) throws -> (document: RelaySealedDocument, over: Int64) {
        var found: (document: RelaySealedDocument, over: Int64)?
        if case .put(let document, let over)? = ask { found = (document, over) }
        return try #require(found)
    }

    @Test("A put without a revision follows what is there, whatever the server says", arguments: [7, Int64.max, -1])
    mutating func conflict(present: Int64) throws {
        _ = connect()
        let first = try #require(asks(order(.put(name: "n", content: ["a": 1], revision: nil))).first)
        #expect(try put(first.ask).over == 0)
        let next = host.received(.documentAnswer(id: first.id, .conflict(present: present, isRemoved: false)), at: 0)
        guard present == 7 else {
            #expect(answers(next).map(\.status) == [.conflict])
            #expect(asks(next).isEmpty)
            return
        }
        let again = try #require(asks(next).first)
        let (document, over) = try put(again.ask)
        #expect(over == 7 && document.revision == 8)
        #expect(account.documents.opened(document)?.content == ["a": 1])
        let done = host.received(.documentAnswer(id: again.id, .kept(revision: 8)), at: 0)
        #expect(answers(done).map(\.status) == [.success])
    }

    @Test("What was put under another key, or under another revision, is told as what does not open")
    mutating func unreadable() throws {
        _ = connect()
        let document = RelayDocument(app: "a.b", name: "n", content: ["a": 1])
        let foreign = try AccountKey().documents.sealed(document, revision: 3)
        var older = try account.documents.sealed(document, revision: 3)
        older.revision = 4
        for sealed in [foreign, older] {
            let ask = try #require(asks(order(.get(name: "n"))).first)
            let told = host.received(.documentAnswer(id: ask.id, .documents([sealed], isAll: true, last: 9)), at: 0)
            #expect(answers(told).map(\.status) == [.failed])
        }
        let ask = try #require(asks(order(.get(name: "n"))).first)
        let right = try account.documents.sealed(document, revision: 3)
        let told = host.received(.documentAnswer(id: ask.id, .documents([right], isAll: true, last: 9)), at: 0)
        #expect(answers(told).first?.message?["content"] == .dictionary(["a": 1]))
    }

    @Test("A page of the account before that is refused is asked for in the next session, not again at once")
    mutating func move() throws {
        _ = connect()
        let former = AccountKey()
        host.moveDocuments(from: former)
        let page = try #require(asks(connect()).first)
        #expect(page.ask == .list(after: 0, token: former.accessToken))
        #expect(asks(host.received(.documentAnswer(id: page.id, .refused(.notKept)), at: 0)).isEmpty)
        let again = try #require(asks(connect()).first)
        let document = RelayDocument(app: "a.b", name: "n", content: ["a": 1])
        let sealed = try former.documents.sealed(document, revision: 3)
        let moved = host.received(.documentAnswer(id: again.id, .documents([sealed], isAll: true, last: 9)), at: 0)
        let (kept, over) = try put(asks(moved).first?.ask)
        #expect(over == 0 && kept.revision == 3)
        #expect(account.documents.opened(kept) == document)
    }
}
