import AldabaTestSupport
import Foundation
import Testing

@testable import RelayProtocol

private let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
private let key = [UInt8](0..<32)

private func sealed(number: Int64 = 0, isRemoved: Bool = false) -> RelaySealedDocument {
    RelaySealedDocument(key: key, revision: 3, body: Array("sealed".utf8), isRemoved: isRemoved, number: number)
}

/// What is said about documents, as bytes that another program has written (`Tests/Fixtures/make_relay_documents.py`).
@Suite struct DocumentCodingTests {
    private func fixture(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Repository.fixture("relay-documents/\(name)")))
    }

    @Test(
        "What devices and the server say is written and read as another program writes it",
        arguments: [
            ("changed", RelayFrame.documentsChanged),
            ("ask-put", .documentRequest(id: id, .put(sealed(), over: 2))),
            ("ask-remove", .documentRequest(id: id, .put(sealed(isRemoved: true), over: 2))),
            ("ask-get", .documentRequest(id: id, .get(key: key))),
            ("ask-list", .documentRequest(id: id, .list(after: 7))),
            (
                "ask-list-former",
                .documentRequest(id: id, .list(after: 0, token: [UInt8](repeating: 0, count: 32)))
            ),
            ("answer-kept", .documentAnswer(id: id, .kept(revision: 3))),
            ("answer-conflict", .documentAnswer(id: id, .conflict(present: 3, isRemoved: true))),
            (
                "answer-documents",
                .documentAnswer(
                    id: id,
                    .documents([sealed(number: 9), sealed(number: 10, isRemoved: true)], isAll: false, last: 12))
            ),
            ("answer-refused", .documentAnswer(id: id, .refused(.full))),
        ])
    func frames(_ name: String, _ frame: RelayFrame) throws {
        let bytes = try fixture("document-\(name)")
        #expect(try RelayFrame(bytes) == frame)
        #expect(try frame.encoded() == bytes)
    }

    @Test(
        "What apps ask is written and read as another program writes it",
        arguments: [
            (
                "put",
                RelayDocumentOrder.put(
                    name: "place", content: ["page": 7, "where": ["on": true]], revision: 2)
            ), ("get", .get(name: "añ")), ("list", .list(after: 32)),
            ("remove", .remove(name: "place", revision: nil)), ("watch", .watch),
        ])
    func orders(_ name: String, _ order: RelayDocumentOrder) throws {
        let bytes = try fixture("document-order-\(name)")
        #expect(try RelayRequest(bytes) == .document(request: 5, order))
        #expect(try RelayRequest.document(request: 5, order).encoded() == bytes)
    }

    @Test("What is sealed is written and read as another program writes it", arguments: [true, false])
    func plain(isRemoved: Bool) throws {
        let document = RelayDocument(
            app: "com.example.notes", name: "place", content: isRemoved ? nil : ["page": 7])
        let bytes = try fixture(isRemoved ? "document-plain-removed" : "document-plain")
        #expect(try RelayDocument(bytes) == document)
        #expect(try document.encoded() == bytes)
    }

    @Test("Every refusal comes back as it was said, and one of a later version as that nothing was kept")
    func refusals() throws {
        for why in RelayDocumentAnswer.Refusal.allCases {
            let frame = RelayFrame.documentAnswer(id: id, .refused(why))
            #expect(try RelayFrame(frame.encoded()) == frame)
        }
        let later: RelayMap = ["type": "documentAnswer", "id": .uuid(id), "what": "refused", "reason": "later"]
        #expect(try RelayFrame(RelayEncoder.encode(later)) == .documentAnswer(id: id, .refused(.notKept)))
    }

    @Test(
        "What cannot be meant is refused, with its place",
        arguments: [
            (["what": "put", "over": 3], "over"), (["what": "put", "over": -1], "over"),
            (["what": "put", "over": 0, "revision": 0], "revision"),
            (["what": "put", "over": 2, "key": .data([1])], "key"),
            (["what": "put", "over": 2, "body": .data([UInt8](repeating: 1, count: (9 << 10) + 1))], "body"),
            (["what": "put", "over": 2, "removed": 1], "removed"), (["what": "put"], "over"),
            (["what": "get", "key": .data([UInt8](repeating: 1, count: 33))], "key"),
            (["what": "list"], "after"), (["what": "list", "after": 0, "token": .data([])], "token"),
            (["what": "list", "after": 0, "token": "x"], "token"), (["what": "drop"], "what"), ([:], "what"),
        ] as [(RelayMap, String)])
    func unreadable(_ members: RelayMap, _ place: String) throws {
        let whole: RelayMap = ["type": "documentAsk", "id": .uuid(id)]
        let map = whole.merging(sealed().map) { $1 }.merging(members) { $1 }
        let bytes = try RelayEncoder.encode(map, limits: .frame)
        #expect {
            try RelayFrame(bytes)
        } throws: { error in
            (error as? RelayFault)?.path.hasSuffix(".\(place)") == true
        }
    }

    @Test("One answer has 64 documents at most, and what a body may have fits")
    func bounds() throws {
        var largest = sealed()
        largest.body = [UInt8](repeating: 1, count: RelaySealedDocument.longestBody)
        let put = RelayFrame.documentRequest(id: id, .put(largest, over: 2))
        #expect(try RelayFrame(put.encoded()) == put)
        for (count, isRead) in [(64, true), (65, false)] {
            let answer = RelayDocumentAnswer.documents(
                [RelaySealedDocument](repeating: sealed(), count: count), isAll: true, last: 1)
            let bytes = try RelayFrame.documentAnswer(id: id, answer).encoded()
            #expect(((try? RelayFrame(bytes)) != nil) == isRead, "\(count)")
        }
    }

    @Test(
        "A name has 1 to 128 bytes of UTF-8; the refusal says so, and how many it has",
        arguments: [("", 0), (String(repeating: "ü", count: 65), 130), (String(repeating: "n", count: 129), 129)])
    func names(_ name: String, _ count: Int) {
        let fault = RelayDocument.fault(ofName: name)
        #expect(fault?.description.contains("1 to 128 bytes of UTF-8") == true)
        #expect(fault?.description.contains("\(count)") == true)
        #expect(throws: RelayFault.self) { try RelayDocument(app: "a", name: name, content: [:]).encoded() }
    }

    @Test("A name of 128 bytes is one, and what a content may have fits into a body")
    func largest() throws {
        #expect(RelayDocument.fault(ofName: String(repeating: "ü", count: 64)) == nil)
        let text = String(repeating: "x", count: RelayDocument.contentLimits.bytes - 9)
        let document = RelayDocument(
            app: String(repeating: "a", count: RelayDocument.appLimit), name: String(repeating: "n", count: 128),
            content: ["text": .string(text)])
        let bytes = try document.encoded()
        // The nonce and the tag that sealing adds.
        #expect(bytes.count + 12 + 16 <= RelaySealedDocument.longestBody)
        #expect(try RelayDocument(bytes) == document)
        #expect(RelayDocument(app: "a", name: "n", content: ["text": .string(text + "x")]).fault != nil)
    }
}
