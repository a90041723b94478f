import NIOCore
import NIOEmbedded
import PushCore
import Testing

@testable import Networking

/// Counts requests and answers those whose body is not `silent`, unless it is silent itself.
final class CountingHandler: HTTP2RequestHandler {
    private(set) var requests: [Int32] = []
    /// The faults of the requests that had one, and those whose body did not end in time.
    private(set) var faults: [HTTP2Request.Fault] = []
    private(set) var late: [Int32] = []
    /// Whether no request is answered.
    var isSilent = false

    func requestReceived(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
        requests.append(request.stream)
        if let fault = request.fault { faults.append(fault) }
        if request.fault == .bodyLate { late.append(request.stream) }
        guard !isSilent, request.body != Array("silent".utf8) else { return }
        var headers = HeaderBlock()
        headers.append(":status", "200")
        connection.respond(request.stream, headers: headers)
    }

    func connectionClosed(_ connection: HTTP2ServerConnection) {}
}

/// A server's connection in memory, with the peer's end in the test's hand. Time moves when the test says so.
final class RawPeer {
    let channel = EmbeddedChannel()
    let handler = CountingHandler()
    private var received = ByteBuffer()

    init(limits: HTTP2Limits = HTTP2Limits(), requestTimeout: TimeAmount = .seconds(60)) throws {
        let handler = handler
        try channel.pipeline.syncOperations.addHandler(
            HTTP2ServerHandler(limits: limits, requestTimeout: requestTimeout) { _ in handler })
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        try send(bytes: RawFrame.clientPreface)
        _ = try receive()
    }

    func send(bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

    func send(_ frames: RawFrame...) throws { try send(bytes: frames.flatMap(\.bytes)) }

    /// The frames that the server has written since the last call.
    func receive() throws -> [RawFrame] {
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { received.writeImmutableBuffer(buffer) }
        return RawFrame.take(from: &received)
    }

    func advance(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }
}
