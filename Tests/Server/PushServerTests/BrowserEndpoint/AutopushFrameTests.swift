import NIOCore
import NIOWebSocket
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// Frames of a browser on their way to its session, and how much is read of it.
@Suite(.timeLimit(.minutes(2))) struct AutopushFrameTests {
    private let first = channelID(1)

    @Test func `a ping is answered with its own data, before hello too`() async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            try await browser.write("abc", as: .ping)
            #expect(browser.sent == [.pong("abc")])
            try await browser.write("", as: .pong)
            #expect(browser.sent.count == 1)
        }
    }

    @Test func `a message in pieces is one message, also with a ping in between`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            try await browser.write("{", isLast: false)
            try await browser.write(" ", as: .continuation, isLast: false)
            try await browser.write("p", as: .ping)
            #expect(browser.sent.count == 2)
            try await browser.write("}", as: .continuation)
            #expect(Array(browser.sent.dropFirst()) == [.pong("p"), .text("{}")])
        }
    }

    @Test(arguments: [WebSocketOpcode.binary, WebSocketOpcode(encodedWebSocketOpcode: 5)!])  // 5 has four bits.
    func `a frame that is no text ends the connection`(opcode: WebSocketOpcode) async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            try await browser.write("{}", as: opcode)
            #expect(await browser.closing(1008) == "a message is a text")
            #expect(world.closed == [1])
        }
    }

    @Test(arguments: [
        (WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: "{}")), "a client masks its frames"),
        (
            WebSocketFrame(
                fin: true, rsv1: true, opcode: .text, maskKey: [0, 0, 0, 0], data: ByteBuffer(string: "{}")),
            "no extension was agreed on"
        ),
    ])
    func `a frame that is not a client's ends the connection, and is not read`(
        frame: WebSocketFrame, reason: String
    ) async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            try await browser.write(frame)
            #expect(await browser.closing(1008) == reason)
            #expect(browser.sent.count == 2 && world.closed == [1])
        }
    }

    @Test(arguments: [1, 0])
    func `pieces have at most 64 KiB together`(excess: Int) async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            let message = #"{"messageType":"ping","more":""#
            let rest = String(repeating: "x", count: AutopushRequest.largest - message.utf8.count - 2 + excess)
            try await browser.write(message, isLast: false)
            try await browser.write(rest + "\"}", as: .continuation)
            if excess == 0 { return #expect(browser.sent.last == .text("{}")) }
            let reason = "a message has at most 65536 bytes, in pieces that follow each other"
            #expect(await browser.closing(1008) == reason)
            #expect(world.closed == [1])
        }
    }

    @Test func `a message against the protocol is answered with its fault`() async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            try await browser.write("{}")
            #expect(await browser.closing(1008) == "the first message must be hello")
            #expect(world.gateway.script.value.logins.isEmpty && world.closed.isEmpty)
        }
    }

    // MARK: Reading

    @Test func `a browser that takes no answers is not read until it does`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            await browser.setWritable(false)
            let before = browser.state.value.reads
            for _ in 0..<2 { browser.channel.pipeline.read() }
            await browser.run()
            #expect(browser.state.value.reads == before)
            await browser.setWritable(true)
            #expect(browser.state.value.reads == before + 1)
        }
    }

    @Test func `a browser is not read while a message of it waits for the register`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            let hold = world.register.hold(.storeWebChannel)
            try await browser.register(channelID(2))
            let before = browser.state.value.reads
            browser.channel.pipeline.read()
            await browser.run()
            #expect(browser.state.value.reads == before + 1, "one more message is taken")
            try await browser.write("{}")
            browser.channel.pipeline.read()
            await browser.run()
            #expect(browser.state.value.reads == before + 1)
            hold.released.open()
            #expect(await browser.texts(3).last == "{}")
            await browser.run()
            #expect(browser.state.value.reads == before + 2)
        }
    }

    @Test func `a browser that is not read any more for its end is read, so that the end is seen`() async throws {
        try await withBrowsers { world in
            let (browser, _) = try await world.live(first)
            browser.state.change { $0.takesNothing = true }
            browser.port.stop()
            #expect(await browser.closing(1001) != nil)
            await browser.setWritable(false)
            let before = browser.state.value.reads
            browser.channel.pipeline.read()
            await browser.run()
            #expect(browser.state.value.reads == before + 1)
        }
    }
}
