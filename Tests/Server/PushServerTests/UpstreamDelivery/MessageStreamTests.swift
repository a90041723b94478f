import AldabaTestSupport
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import Testing

@testable import PushServer

/// Keeps what a stream writes.
private struct RecordingWriter: ResponseBodyWriter {
    let written = Inbox<String>()

    mutating func write(_ buffer: ByteBuffer) async throws { written.put(String(buffer: buffer)) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Takes the right to read away with the first page that it is given.
private struct RevokingWriter: ResponseBodyWriter {
    let mayRead: Flag
    let written: Inbox<String>

    mutating func write(_ buffer: ByteBuffer) async throws {
        let text = String(buffer: buffer)
        written.put(text)
        if text.hasPrefix("id: ") { mayRead.store(false) }
    }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Finds every credential to be of an age.
private struct Ageing: ProviderAuthentication {
    let isExpired: Bool

    func team(authorization: String) async throws -> ProviderVerdict {
        isExpired ? .expired : .team(TeamID(rawValue: "TEAM123456"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct MessageStreamTests {
    private func feed(_ world: MessageWorld) -> MessageFeed {
        MessageFeed(
            store: world.store, apps: world.apps, sealer: world.sealer, cell: 0, arrivalSignal: world.arrivalSignal,
            clock: world.clock.function)
    }

    @Test func `a stream writes what waits and what comes, and says that it is there, until its reader may not read`()
        async throws
    {
        let world = try await MessageWorld()
        #expect(try await world.say("before") == .durable())
        let mayRead = Flag()
        mayRead.store(true)
        let writer = RecordingWriter()
        let stream = MessageStream(
            feed: feed(world), scope: MessageScope(), cursor: 0, heartbeat: .milliseconds(20)
        ) { mayRead.load() }
        let writing = Task {
            var body: any ResponseBodyWriter = writer
            try await stream.write(to: &body)
        }
        #expect(await writer.written.next()?.hasPrefix("retry: ") == true)
        let first = await writer.written.next { !$0.hasPrefix(":") }
        #expect(first?.hasPrefix("id: 1\nevent: message\ndata: {") == true)
        #expect(first?.hasSuffix("}\n\n") == true)
        #expect(await writer.written.next { $0 == ": still here\n\n" } != nil)
        #expect(try await world.say("after") == .durable())
        #expect(await writer.written.next { $0.contains("\"id\":\"after\"") } != nil)
        mayRead.store(false)
        try await writing.value
    }

    @Test func `a reader whose right ends in the middle of a backlog gets no further page`() async throws {
        let world = try await MessageWorld()
        for number in 1...2 * MessageFeed.pageLimit { #expect(try await world.say("\(number)") == .durable()) }
        let mayRead = Flag()
        mayRead.store(true)
        let written = Inbox<String>()
        let stream = MessageStream(
            feed: feed(world), scope: MessageScope(), cursor: 0, heartbeat: .seconds(3600)
        ) { mayRead.load() }
        var body: any ResponseBodyWriter = RevokingWriter(mayRead: mayRead, written: written)
        try await stream.write(to: &body)
        written.finish()
        var pages: [String] = []
        while let text = await written.next(where: { $0.hasPrefix("id: ") }) { pages.append(text) }
        #expect(pages.map { $0.ranges(of: "event: message\n").count } == [MessageFeed.pageLimit])
    }

    @Test func `a reader whose right ends while nothing comes does not get the next message`() async throws {
        let world = try await MessageWorld()
        #expect(try await world.say("before") == .durable())
        let mayRead = Flag()
        mayRead.store(true)
        let written = Inbox<String>()
        let stream = MessageStream(
            feed: feed(world), scope: MessageScope(), cursor: 0, heartbeat: .seconds(3600)
        ) { mayRead.load() }
        let writing = Task {
            var body: any ResponseBodyWriter = RevokingWriter(mayRead: mayRead, written: written)
            try await stream.write(to: &body)
        }
        #expect(await written.next { $0.contains("\"id\":\"before\"") } != nil)
        #expect(try await world.say("after") == .durable())
        try await writing.value
        written.finish()
        #expect(await written.next() == nil)
    }

    @Test func `whoever reaches the development listener may read, and an expired token may not`() async {
        #expect(await UpstreamInterface.isAllowed(ProviderAccess(authentication: nil), nil))
        #expect(await UpstreamInterface.isAllowed(ProviderAccess(authentication: Ageing(isExpired: false)), "bearer x"))
        #expect(await !UpstreamInterface.isAllowed(ProviderAccess(authentication: Ageing(isExpired: true)), "bearer x"))
        #expect(await !UpstreamInterface.isAllowed(ProviderAccess(authentication: Ageing(isExpired: false)), nil))
    }

    @Test func `what became of a message is not found where there is none, and unknown while the store fails`()
        async throws
    {
        let world = try await MessageWorld()
        #expect(try await world.say("a") == .durable())
        let failing = Flag()
        let feed = MessageFeed(
            store: FailingMessageStore(base: world.store, isFailing: failing), apps: world.apps, sealer: world.sealer,
            cell: 0, arrivalSignal: world.arrivalSignal, clock: world.clock.function)
        let interface = UpstreamInterface(feed: feed, authentication: Ageing(isExpired: false))
        func status(_ id: String, topic: String = "com.example.todo") async throws -> HTTPResponse.Status {
            let request = Request(
                head: .init(method: .get, scheme: "https", authority: "localhost", path: "/?topic=\(topic)"),
                body: .init(buffer: .init()))
            do {
                return try await interface.ends(request, access: ProviderAccess(authentication: nil), id: id).status
            } catch let error as ControlError {
                return error.status
            }
        }
        #expect(try await status("a") == .ok)
        #expect(try await status("b") == .notFound)
        #expect(try await status("a", topic: "com.example.other") == .notFound)
        failing.store(true)
        await #expect(throws: FailingMessageStore.Failure.self) { try await status("a") }
    }
}
