import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import RelayProtocol
import Testing

@testable import ConnectedDevices

/// What the library and an agent say to each other.
@Suite struct AgentTalkTests {
    /// An agent, and a client that it has welcomed.
    private struct Talk {
        let agent: FakeAgent
        let client: RelayClient

        init() async throws {
            agent = try FakeAgent()
            client = RelayClient(configuration: AppHostConfiguration(app: "com.example.todo", socketPath: agent.path))
            client.start()
            try await agent.welcome()
            // What is asked waits for the welcome; what is said does not.
            async let isOpen = client.ask { .life(request: $0, id: UUID()) }
            if case .life(let number, _) = try await receive() { try say(.life(request: number, nil, nil)) }
            _ = await isOpen
        }

        func say(_ notice: RelayNotice) throws { try agent.say(.relay(RelayPacket(try notice.encoded()))) }

        /// The next request that the client says.
        func receive() async throws -> RelayRequest {
            let message = try await agent.next { if case .relay = $0 { true } else { false } }
            guard case .relay(let packet) = message else { return .unknown("") }
            return try RelayRequest([UInt8](packet.frame))
        }

        /// Ends the test where the next request is another, which would not be followed by what the test waits for.
        func requireNext(_ request: RelayRequest) async throws {
            let next = try await receive()
            try #require(next == request)
        }

        /// The next that is not about watching.
        func heardBesideWatch() async throws -> RelayRequest {
            while true {
                let request = try await receive()
                if case .watch = request { continue }
                return request
            }
        }

        func end() {
            client.stop()
            agent.stop()
        }
    }

    private let id = UUID()

    @Test("The agent tells no more of devices after the last watcher has stopped")
    func watching() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let watchers = (0..<2).map { _ in RemoteSystemWatcher(filters: [], client: talk.client) }
        for watcher in watchers { watcher.start() }
        watchers[0].stop()
        watchers[0].stop()
        talk.client.say(.cancel(request: 1, id: id))
        #expect(try await talk.heardBesideWatch() == .cancel(request: 1, id: id))
        watchers[1].stop()
        #expect(try await talk.heardBesideWatch() == .unwatch(request: 0))
    }

    @Test("A request that was taken back is told so, once")
    func cancelling() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let (told, telling) = AsyncStream.makeStream(of: String.self)
        let requests = [5, 6].map { AppServiceRequest([:], id: UUID(), call: $0, client: talk.client) }
        for (place, request) in requests.enumerated() { request.canceled.subscribe { telling.yield("\(place)") } }
        for call: Int64 in [7, 6, 6, 5] { try talk.say(.cancelled(call: call)) }
        var all: [String] = []
        for await word in told.prefix(2) { all.append(word) }
        #expect(all == ["1", "0"])
        #expect(requests.allSatisfy { $0.isCanceled })
    }

    @Test("A message that wants no answer counts as taken once nobody keeps it; a question as not answered")
    func oneWay() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        for (call, isOneWay) in [(Int64(8), true), (9, false)] {
            #expect(
                AppServiceRequest([:], id: id, isOneWay: isOneWay, call: call, client: talk.client).isOneWay == isOneWay
            )
        }
        try await talk.requireNext(.answer(call: 8, RelayOutcome(.success)))
        try await talk.requireNext(.answer(call: 9, RelayOutcome(.failed, detail: "the app did not answer")))
    }

    @Test("A stream of which as much was there, but another, is asked for from the beginning, once")
    func anotherStream() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let offer = RelayOffer(name: "f", size: 3, modified: 0, app: "com.example.todo", service: "s")
        let stream = IncomingStream(id, offer, from: "9", client: talk.client)
        var (there, whole) = (StreamPosition(), StreamPosition())
        there.append([7, 7, 7])
        whole.append([1, 2, 3])
        let begin = there
        let taking = Task {
            try await stream.receive(after: begin) { offset, piece in
                guard offset == 0, piece == Data([1, 2, 3]) else { throw IncomingStreamError.lost }
            }
        }
        try await talk.requireNext(.stream(id, .pull(offset: 3, length: 0, prefix: there.prefix)))
        try talk.say(.stream(id, .allGiven(digest: whole.whole)))
        try await talk.requireNext(.stream(id, .pull(offset: 0, length: 3, prefix: [])))
        try talk.say(.stream(id, .piece(offset: 0, [1, 2, 3])))
        try talk.say(.stream(id, .allGiven(digest: whole.whole)))
        try await talk.requireNext(.stream(id, .taken(RelayOutcome(.success))))
        try await taking.value
    }

    @Test("A device of another person's is found by its id, or is not")
    func finding() async throws {
        let talk = try await Talk()
        defer { talk.end() }
        let device = RelayDevice(id: "7", name: "other", kind: "phone", apps: [RelayApp(id: "a.b", name: "A")])
        for isThere in [true, false] {
            async let found = RemoteSystem.find(id: "7", by: talk.client)
            guard case .find(let number, "7") = try await talk.receive() else {
                return #expect(Bool(false), "nothing is looked for")
            }
            let notThere = RelayNotice.answered(request: number, id: nil, RelayOutcome(.unknownDevice))
            try talk.say(isThere ? .found(request: number, device) : notThere)
            #expect(await found?.apps.map(\.id) == (isThere ? ["a.b"] : nil))
        }
    }
}
