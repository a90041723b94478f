import NIOCore
import NIOEmbedded
import NIOWebSocket
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// The ends of a browser's connection: what it is told, and that its session is closed once.
@Suite(.timeLimit(.minutes(2))) struct AutopushClosingTests {
    private let first = channelID(1)

    enum Ending: CaseIterable, Sendable {
        case superseded
        case revoked
        case stopping

        func reach(_ port: AutopushPort) {
            switch self {
            case .superseded: port.superseded()
            case .revoked: port.revoked()
            case .stopping: port.stop()
            }
        }

        var closing: (code: Int, text: String) {
            switch self {
            case .superseded: (1000, "a newer connection of this client is open")
            case .revoked: (1008, "the client is not served any more")
            case .stopping: (1001, "the server stops; connect again")
            }
        }
    }

    /// Whether a session was opened and closed once, at the gateway and for listeners.
    private func isClosedOnce(_ world: BrowserWorld) -> Bool {
        let sessions = world.sessions.state.value
        return world.closed == [1] && sessions.opened.map(\.epoch) == [1] && sessions.closed == sessions.opened
    }

    @Test(arguments: Ending.allCases)
    func `a session that the server ends is told why, and closed once`(ending: Ending) async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            ending.reach(browser.port)
            #expect(await browser.closing(ending.closing.code) == ending.closing.text)
            #expect(isClosedOnce(world) && !browser.channel.isActive)
            for other in Ending.allCases { other.reach(browser.port) }
            try await browser.disconnect()
            #expect(browser.sent.count == 2 && isClosedOnce(world))
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test(arguments: Ending.allCases)
    func `a browser that has no session yet is told so too, and nothing is closed at the gateway`(
        ending: Ending
    ) async throws {
        try await withBrowsers { world in
            for isDrawn in [false, true] {
                let browser = try await world.connect()
                if isDrawn { _ = try await browser.hello() }
                ending.reach(browser.port)
                #expect(await browser.closing(ending.closing.code) == ending.closing.text)
            }
            #expect(world.closed.isEmpty && world.sessions.state.value.closed.isEmpty)
        }
    }

    @Test func `a newer connection of a browser ends the older one, and keeps its own session`() async throws {
        try await withBrowsers { world in
            let (older, id) = try await world.live(first)
            let newer = try await world.connect()
            #expect(try await newer.hello(id) == id)
            #expect(await older.closing(1000) != nil)
            #expect(world.closed == [1])
            world.gateway.base.accept([pushed(1, to: first)], for: id.device)
            await newer.run()
            #expect(newer.versions == [1] && older.versions.isEmpty)
        }
    }

    @Test func `a browser that closes the WebSocket is answered, and its session is closed once`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            try await browser.write("\u{3}\u{E8}", as: .connectionClose)
            #expect(await browser.closing(1000)?.isEmpty == true)
            #expect(isClosedOnce(world))
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test func `a connection that breaks closes its session once, and nothing is written`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            try await browser.disconnect()
            browser.port.stop()
            await browser.run()
            #expect(isClosedOnce(world) && browser.sent.count == 1)
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test func `an error of the connection closes it without a farewell`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            browser.channel.pipeline.fireErrorCaught(ScriptedGateway.Failure())
            await browser.run()
            #expect(!browser.channel.isActive && browser.sent.count == 1 && isClosedOnce(world))
        }
    }

    @Test func `a browser that reads nothing is closed a second after its farewell`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            browser.state.change { $0.takesNothing = true }
            browser.port.revoked()
            #expect(await browser.closing(1008) != nil)
            #expect(isClosedOnce(world) && browser.channel.isActive)
            let (loop, isEmpty) = (NIOAsyncTestingEventLoop(), Watched(false))
            world.registry.stop(.alone, on: loop).whenSuccess { isEmpty.change { $0 = true } }
            // What it still says is not answered, and not read by the session.
            try await browser.write("{}")
            try await browser.write("", as: .ping)
            browser.port.deliver([pushed(1, to: first, stored: false)])
            await browser.channel.testingEventLoop.advanceTime(by: .milliseconds(999))
            await loop.run()
            #expect(browser.channel.isActive && !isEmpty.value)
            #expect(browser.sent.count == 2 && world.gateway.told.notSent.map(\.rawValue) == [1])
            await browser.channel.testingEventLoop.advanceTime(by: .milliseconds(1))
            await loop.run()
            #expect(!browser.channel.isActive && isEmpty.value)
            #expect(isClosedOnce(world) && world.gateway.told.sessions[id.device] == nil)
        }
    }

    private struct Weak {
        weak var connection: AutopushConnection?
    }

    @Test(arguments: [true, false])
    func `a connection that has ended is not kept`(isKnown: Bool) async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            _ = try await browser.hello(isKnown ? world.enrolled(4242, first) : nil)
            let loop = browser.channel.testingEventLoop
            let kept = NIOLoopBoundBox<Weak>.makeBoxSendingValue(Weak(), eventLoop: loop)
            browser.port.onLoop { kept.value.connection = $0 }
            await browser.run()
            #expect(try await loop.executeInContext { kept.value.connection != nil })
            try await browser.disconnect()
            #expect(try await loop.executeInContext { kept.value.connection == nil })
        }
    }

    @Test func `a text beside the code has 123 bytes at most`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            browser.port.onLoop { $0.channel?.close(code: 1008, text: String(repeating: "x", count: 500)) }
            #expect(await browser.closing(1008)?.count == 123)
        }
    }

    // MARK: Time

    @Test func `a connection that says no hello in time is closed`() async throws {
        try await withBrowsers { world in
            world.services.session.helloTimeout = 0
            let browser = try await world.connect()
            #expect(await browser.closing(1001) == "timeout")
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test func `a browser that is silent is asked, and closed when it does not answer`() async throws {
        try await withBrowsers { world in
            world.services.session.pingInterval = 0
            world.services.session.pongTimeout = 0
            let hold = world.register.hold(.webChannels)
            let (id, browser) = (try await world.enrolled(), try await world.connect())
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            #expect(await browser.closing(1001) == "timeout")
            #expect(browser.sent == [.ping, .close(code: 1001, "timeout")])
            #expect(isClosedOnce(world))
            hold.released.open()
        }
    }

    @Test(arguments: [WebSocketOpcode.pong, .ping])
    func `a browser that gives a sign of life stays connected, and is asked again`(opcode: WebSocketOpcode) async throws
    {
        try await withBrowsers { world in
            world.services.session.pingInterval = 0
            world.services.session.pongTimeout = 3_600_000
            let (browser, _) = try await world.live(first)
            await browser.run()
            #expect(browser.sent.count { $0 == .ping } == 1)
            try await browser.write("", as: opcode)
            #expect(browser.sent.count { $0 == .ping } == 2 && browser.channel.isActive)
        }
    }

    // MARK: Proof

    @Test(arguments: [(false, false), (true, false), (true, true)])
    func `a connection stays beyond the time for a credential once its hello is answered`(
        saysHello: Bool, isKnown: Bool
    ) async throws {
        try await withBrowsers { world in
            let browser = try await world.connect(isCounted: true)
            if saysHello { _ = try await browser.hello(isKnown ? world.enrolled() : nil) }
            await browser.channel.testingEventLoop.advanceTime(by: .seconds(17))
            #expect(browser.channel.isActive == saysHello)
        }
    }
}
