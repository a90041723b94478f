import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Networking
import Testing

@testable import ControlAPI

/// Counts how often the socket would be read.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = Any
    var reads = 0

    func read(context: ChannelHandlerContext) { reads += 1 }
}

@Suite struct RefusalPaceTests {
    private let counter = ReadCounter()
    private let channel = EmbeddedChannel()

    init() throws {
        try channel.pipeline.syncOperations.addHandlers(counter, RefusalDelayHandler())
    }

    private func answer(_ status: HTTPResponse.Status) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    /// The milliseconds after which the channel reads from its socket.
    private func pause() -> Int {
        let before = counter.reads
        channel.pipeline.read()
        var milliseconds = 0
        while counter.reads == before, milliseconds < 1000 {
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
            milliseconds += 1
        }
        return milliseconds
    }

    @Test func `each refusal in a row adds ten milliseconds, up to a hundred`() throws {
        #expect(pause() == 0)
        var pauses: [Int] = []
        for _ in 0..<12 {
            try answer(.badRequest)
            pauses.append(pause())
        }
        #expect(pauses == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 100, 100])
        try answer(.ok)
        #expect(pause() == 0)
        try answer(.unauthorized)
        #expect(pause() == 10)
    }

    @Test func `a connection that has shown a credential is read at once`() throws {
        try answer(.badRequest)
        channel.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Proven())
        try answer(.badRequest)
        #expect(pause() == 0)
    }

    @Test func `a connection that ends while it pauses reads no more`() throws {
        try answer(.badRequest)
        channel.pipeline.read()
        channel.pipeline.fireChannelInactive()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(counter.reads == 0)
    }
}
