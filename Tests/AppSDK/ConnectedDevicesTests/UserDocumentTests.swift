import AgentDouble
import AgentProtocol
import AldabaTestSupport
import AppHost
import Foundation
import RelayProtocol
import Testing

@testable import ConnectedDevices

/// What an app says of documents, and what it is told; the test plays the agent.
@Suite struct UserDocumentTests {
    /// An agent, and the channel of a client that it has welcomed.
    private struct Talk {
        let agent: FakeAgent
        let client: RelayClient
        let channel: UserDocumentChannel

        init() async throws {
            agent = try FakeAgent()
            client = RelayClient(configuration: AppHostConfiguration(app: "com.example.notes", socketPath: agent.path))
            channel = UserDocumentChannel(client: client)
            client.start()
            try await agent.welcome()
        }

        /// The next thing that is asked about documents.
        func asked() async throws -> (number: Int64, order: RelayDocumentOrder) {
            let message = try await agent.next { if case .relay = $0 { true } else { false } }
            guard case .relay(let packet) = message,
                case .document(let number, let order) = try RelayRequest([UInt8](packet.frame))
            else { throw POSIXError(.EPROTO) }
            return (number, order)
        }

        func say(_ notice: RelayNotice) throws { try agent.say(.relay(RelayPacket(try notice.encoded()))) }

        func answer(_ number: Int64, _ outcome: RelayOutcome) throws {
            try say(.answered(request: number, id: nil, outcome))
        }

        func end() {
            client.stop()
            agent.stop()
        }
    }

    @Test("The page's example is what is compiled here")
    func page() throws {
        let page = try PageExample("TurnPage.swift", guide: "Docs/relay.md")
        #expect(page.shown == page.compiled)
    }

    @Test("A put says its revision, and is told the next one")
    func put() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        async let kept = talk.channel.put(["page": 7, "on": Data([1])], as: "place", over: 3)
        let (number, order) = try await talk.asked()
        #expect(order == .put(name: "place", content: ["page": 7, "on": .data([1])], revision: 3))
        try talk.answer(number, RelayOutcome(.success, message: ["revision": 4]))
        #expect(try await kept == 4)
    }

    @Test("A document is read with its content, and one that is not there is none")
    func read() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        for isThere in [true, false] {
            async let document = talk.channel.document(named: "place")
            let (number, order) = try await talk.asked()
            #expect(order == .get(name: "place"))
            let message: RelayMap = ["name": "place", "revision": 2, "content": ["page": 7]]
            try talk.answer(number, isThere ? RelayOutcome(.success, message: message) : RelayOutcome(.notFound))
            let read = try await document
            #expect(read?.revision == (isThere ? 2 : nil) && read?.content["page"] as? Int == (isThere ? 7 : nil))
        }
    }

    @Test("A list is read to its end; what was changed meanwhile is told once, with its last revision")
    func list() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        func entry(_ name: RelayValue, _ revision: RelayValue) -> RelayValue {
            ["name": name, "revision": revision, "bytes": 9]
        }
        async let all = talk.channel.documents()
        for (from, next): (Int64, RelayValue?) in [(0, 5), (5, nil)] {
            let (number, order) = try await talk.asked()
            #expect(order == .list(after: from))
            var message: RelayMap = [
                "documents": .array(from == 0 ? [entry("a", 1), entry("b", 1)] : [entry("a", 2)]), "unreadable": 0,
            ]
            message["next"] = next
            try talk.answer(number, RelayOutcome(.success, message: message))
        }
        #expect(try await all.map { "\($0.name) \($0.revision) \($0.bytes)" } == ["b 1 9", "a 2 9"])
    }

    @Test(
        "What could not be done is told as it is",
        arguments: [
            (RelayOutcome(.conflict, message: ["revision": 6]), UserDocumentError.conflict(revision: 6)),
            (RelayOutcome(.notFound), .notFound), (RelayOutcome(.tooLarge, detail: "why"), .unsuitable("why")),
            (RelayOutcome(.resourceLimits, detail: "full"), .limitReached("full")),
            (RelayOutcome(.networkUnavailable, detail: "away"), .networkNotAvailable("away")),
            (RelayOutcome(.outcomeUnknown, detail: "lost"), .outcomeUnknown("lost")),
            (RelayOutcome(.notDelivered, detail: "disk"), .failure("disk")),
        ])
    func failures(_ outcome: RelayOutcome, _ error: UserDocumentError) async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let removed = Task { try await talk.channel.remove(named: "place", over: 5) }
        let (number, order) = try await talk.asked()
        #expect(order == .remove(name: "place", revision: 5))
        try talk.answer(number, outcome)
        await #expect(throws: error) { _ = try await removed.value }
    }

    @Test("What cannot be sent is refused before it is, with its place")
    func unsuitable() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let mixed: [any Sendable] = [1, "two"]
        for content: ValueSet in [["list": mixed], ["text": String(repeating: "x", count: 8192)]] {
            await #expect { try await talk.channel.put(content, as: "place") } throws: { error in
                guard case .unsuitable(let why)? = error as? UserDocumentError else { return false }
                return why.contains("list[1]") || why.contains("8192")
            }
        }
    }

    @Test(
        "A put that the agent did not answer before it ended may have come to pass; a question did not",
        arguments: [true, false])
    func lost(isPut: Bool) async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let asking = Task {
            if isPut {
                try await talk.channel.put([:], as: "place")
            } else {
                _ = try await talk.channel.document(named: "place")
            }
        }
        _ = try await talk.asked()
        talk.agent.cut()
        await #expect { try await asking.value } throws: { error in
            switch error as? UserDocumentError {
            case .outcomeUnknown?: isPut
            case .networkNotAvailable?: !isPut
            default: false
            }
        }
    }

    @Test(
        "Changes are told from the answer on, and after the agent has begun anew, with the word that some may be missed"
    )
    func changes() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        async let begun = talk.channel.changes()
        let (number, order) = try await talk.asked()
        #expect(order == .watch)
        try talk.answer(number, RelayOutcome(.success))
        var changes = try await begun.makeAsyncIterator()
        let news: [RelayMap] = [
            ["name": "a", "revision": 2, "removed": false, "content": ["n": 1]],
            ["name": "b", "revision": 3, "removed": true], ["unreadable": true, "revision": 1],
        ]
        for map in news {
            try talk.say(.told(request: number, map))
            switch await changes.next() {
            case .put(let document): #expect(document.name == "a" && document.content["n"] as? Int == 1)
            case .removed(let name, let revision): #expect(name == "b" && revision == 3)
            case .unreadable: #expect(map["unreadable"] == true)
            case .missed, nil: Issue.record("nothing was missed")
            }
        }
        talk.agent.cut()
        try await talk.agent.welcome()
        let again = try await talk.asked()
        #expect(again.order == .watch)
        try talk.answer(again.number, RelayOutcome(.success))
        guard case .missed? = await changes.next() else { return #expect(Bool(false), "what was missed is not told") }
        try talk.say(.told(request: again.number, news[1]))
        guard case .removed("b", 3)? = await changes.next() else { return #expect(Bool(false), "a change is not told") }
    }

    @Test(
        "Of several changes of one document that wait only the last is read; of too many documents none, but that they were"
    )
    func coalescing() {
        let pending = UnreadDocumentChanges()
        for revision: Int64 in 1...3 { pending.add(.removed(name: "a", revision: revision)) }
        pending.add(.removed(name: "b", revision: 1))
        guard case .removed("a", 3)? = pending.take(), case .removed("b", 1)? = pending.take(), pending.take() == nil
        else { return #expect(Bool(false), "another order") }
        for number in 0..<UnreadDocumentChanges.limit { pending.add(.removed(name: "\(number)", revision: 1)) }
        for number in 0..<100 {
            guard case .removed("\(number)", 1)? = pending.take() else { return #expect(Bool(false), "\(number)") }
        }
        for number in 0..<101 { pending.add(.removed(name: "more\(number)", revision: 1)) }
        guard case .missed? = pending.take(), pending.take() == nil else {
            return #expect(Bool(false), "what is too much stays")
        }
    }
}
