import DeviceChannel
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOWebSocket
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// The end of the connection's channel: notes the frames that leave, the reads, and that the login has arrived.
private final class Wire: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    private let state: Watched<TestBrowser.State>
    private var unsent: [(TestBrowser.Sent, EventLoopPromise<Void>?)] = []

    init(_ state: Watched<TestBrowser.State>) { self.state = state }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        unsent.append((TestBrowser.Sent(unwrapOutboundIn(data)), promise))
    }

    func flush(context: ChannelHandlerContext) {
        let due = unsent
        unsent = []
        state.change { $0.sent += due.map(\.0) }
        guard !state.value.takesNothing else { return }
        for (_, promise) in due { promise?.succeed() }
    }

    func read(context: ChannelHandlerContext) {
        state.change { $0.reads += 1 }
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is HandshakeCountHandler.LoggedIn { state.change { $0.logins += 1 } }
        context.fireUserInboundEventTriggered(event)
    }
}

/// A browser's connection without a socket: a test writes its frames, and sees those that are sent to it.
final class TestBrowser: Sendable {
    enum Sent: Hashable, Sendable {
        case text(String)
        case ping
        case pong(String)
        case close(code: Int, String)
        /// A frame that a server never sends.
        case other(String)

        init(_ frame: WebSocketFrame) {
            var data = frame.data
            switch frame.opcode {
            case .text where frame.fin && frame.maskKey == nil: self = .text(String(buffer: data))
            case .ping: self = .ping
            case .pong: self = .pong(String(buffer: data))
            case .connectionClose:
                let code = data.readInteger(as: UInt16.self).map(Int.init) ?? 0
                self = .close(code: code, String(buffer: data))
            default: self = .other("\(frame)")
            }
        }
    }

    struct State: Sendable {
        var sent: [Sent] = []
        var reads = 0
        /// The number of events by which a connection stops to count as one that waits for its login.
        var logins = 0
        /// Whether what is written stays unwritten, as for a client that reads nothing.
        var takesNothing = false
    }

    let state: Watched<State>
    let channel: NIOAsyncTestingChannel
    let port: AutopushPort

    /// - Parameter isCounted: Whether the connection counts against the limits of the listener.
    init(_ world: BrowserWorld, uri: String, host: String, isSecured: Bool, isCounted: Bool) async throws {
        let (state, channel) = (Watched(State()), NIOAsyncTestingChannel())
        let port = AutopushPort(eventLoop: channel.testingEventLoop, gateway: world.gateway, network: nil)
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: ["host": host])
        (self.state, self.channel, self.port) = (state, channel, port)
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).get()
        let (services, context) = (world.services, world.context)
        try await channel.testingEventLoop.executeInContext {
            if isCounted { #expect(context.limiter.admit(channel)) }
            let connection = AutopushConnection(
                services, context, origin: AutopushConnection.Origin(head, isSecured: isSecured), port: port)
            port.attach(connection)
            try channel.pipeline.syncOperations.addHandlers([
                Wire(state), ClientFrameHandler(),
                NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64,
                    maxAccumulatedFrameSize: AutopushRequest.largest),
                AutopushChannelHandler(peer: connection),
            ])
        }
        #expect(context.registry.add(port))
        await run()
    }

    // MARK: What the browser does

    func write(_ frame: WebSocketFrame) async throws {
        try await channel.writeInbound(frame)
        await run()
    }

    func write(_ text: String, as opcode: WebSocketOpcode = .text, isLast: Bool = true) async throws {
        var data = ByteBuffer(string: text)
        let key = WebSocketMaskingKey.random()
        data.webSocketMask(key)
        try await write(WebSocketFrame(fin: isLast, opcode: opcode, maskKey: key, data: data))
    }

    /// Says hello; the client's id that the answer names.
    func hello(_ id: PushClientID? = nil) async throws -> PushClientID {
        let member = id.map { #","uaid":"\#($0.text)""# } ?? ""
        try await write(#"{"messageType":"hello","use_webpush":true\#(member)}"#)
        let text = try #require(await texts(1).first)
        let answer = try JSONValue(text: text)
        #expect(answer["messageType"]?.text == "hello" && answer["status"]?.integer == 200)
        return try #require(answer["uaid"]?.text.flatMap(PushClientID.init(text:)))
    }

    func register(_ id: PushChannelID, key: String? = nil) async throws {
        let member = key.map { #","key":"\#($0)""# } ?? ""
        try await write(#"{"messageType":"register","channelID":"\#(id)"\#(member)}"#)
    }

    func unregister(_ id: PushChannelID) async throws {
        try await write(#"{"messageType":"unregister","channelID":"\#(id)","code":200}"#)
    }

    func acknowledge(_ ids: Int64..., code: Int = 100) async throws {
        let updates = ids.map { #"{"version":"\#($0)","code":\#(code)}"# }.joined(separator: ",")
        try await write(#"{"messageType":"ack","updates":[\#(updates)]}"#)
    }

    /// Breaks the connection.
    func disconnect() async throws {
        // It may be closed already, which is what the test wants.
        _ = try await channel.finish(acceptAlreadyClosed: true)
    }

    // MARK: What the connection does

    /// Runs what is due on the connection's event loop.
    func run() async { await channel.testingEventLoop.run() }

    func setWritable(_ isWritable: Bool) async {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
        await run()
    }

    var sent: [Sent] { state.value.sent }

    /// The numbers of the messages that were sent, in order.
    var versions: [Int64] {
        sent.compactMap { sent in
            // A text that is no JSON has no number; tests of the texts themselves notice it.
            guard case .text(let text) = sent, let value = try? JSONValue(text: text) else { return nil }
            return value["version"]?.text.flatMap { Int64($0) }
        }
    }

    /// Waits until so many texts were sent; all of them.
    @discardableResult func texts(_ count: Int) async -> [String] {
        let isText: @Sendable (Sent) -> String? = { if case .text(let text) = $0 { text } else { nil } }
        return await state.wait { $0.sent.compactMap(isText).count >= count }.sent.compactMap(isText)
    }

    /// Waits until the connection is closed with a code; the text beside it.
    func closing(_ code: Int) async -> String? {
        let isClose: @Sendable (Sent) -> Bool = { if case .close = $0 { true } else { false } }
        let last = await state.wait { $0.sent.contains(where: isClose) }.sent.last
        await run()
        guard case .close(code: code, let text)? = last else {
            Issue.record("the last frame is \(String(describing: last))")
            return nil
        }
        return text
    }
}
