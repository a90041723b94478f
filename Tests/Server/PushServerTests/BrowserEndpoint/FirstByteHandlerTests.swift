import NIOCore
import NIOEmbedded
import Testing

@testable import PushServer

/// The choice of a connection's protocol by its first byte.
@Suite struct FirstByteHandlerTests {
    private struct Failure: Error {}

    /// Notes what it reads, as the handlers of the chosen protocol would.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private(set) var read: [ByteBuffer] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { read.append(unwrapInboundIn(data)) }
    }

    /// A connection without a socket, whose choices are noted.
    private final class Connection {
        let channel = EmbeddedChannel()
        let reader = Reader()
        private(set) var choices: [Bool] = []

        init(failing: Bool = false) throws {
            let handler = FirstByteHandler(logger: BrowserWorld.quiet) { [unowned self] isHTTP, channel in
                choices.append(isHTTP)
                if failing { throw Failure() }
                try channel.pipeline.syncOperations.addHandler(reader)
            }
            try channel.pipeline.syncOperations.addHandler(handler)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        /// Whether the handler is there; looking for it throws where it is not.
        var isChoosing: Bool { (try? channel.pipeline.syncOperations.handler(type: FirstByteHandler.self)) != nil }
    }

    @Test(arguments: [
        (UInt8(ascii: "G"), true), (UInt8(ascii: "g"), false), (UInt8(ascii: "P"), false), (UInt8(ascii: "H"), false),
        (0x16, false), (41, false), (0, false), (255, false), (0x46, false),
    ])
    func `only the first byte of GET is HTTP's`(byte: UInt8, isHTTP: Bool) throws {
        let connection = try Connection()
        try connection.channel.writeInbound(ByteBuffer(bytes: [byte, UInt8(ascii: "G")]))
        #expect(connection.choices == [isHTTP])
    }

    @Test func `the chosen handlers read the first bytes once, and the handler chooses no more`() throws {
        let connection = try Connection()
        let all = ["GET / HTT", "P/1.1\r\n", "X"].map { ByteBuffer(string: $0) }
        for bytes in all { try connection.channel.writeInbound(bytes) }
        #expect(connection.reader.read == all && connection.choices == [true])
        #expect(!connection.isChoosing)
        #expect(try connection.channel.finish().isClean)
    }

    @Test func `bytes that were read in part are forwarded as they are`() throws {
        let connection = try Connection()
        var bytes = ByteBuffer(string: "GPOST")
        bytes.moveReaderIndex(forwardBy: 1)
        try connection.channel.writeInbound(bytes)
        #expect(connection.choices == [false] && connection.reader.read == [bytes])
    }

    @Test func `a read without bytes chooses nothing and is not forwarded`() throws {
        let connection = try Connection()
        try connection.channel.writeInbound(ByteBuffer())
        #expect(connection.choices.isEmpty && connection.isChoosing && connection.channel.isActive)
        try connection.channel.writeInbound(ByteBuffer(string: "G"))
        #expect(connection.choices == [true] && connection.reader.read == [ByteBuffer(string: "G")])
    }

    @Test func `a choice that fails closes the connection, and nothing is forwarded`() throws {
        let connection = try Connection(failing: true)
        try connection.channel.writeInbound(ByteBuffer(string: "GET"))
        #expect(!connection.channel.isActive && connection.choices == [true])
        #expect(try connection.channel.readInbound(as: ByteBuffer.self) == nil)
    }

    @Test func `an error before the first byte closes the connection and goes no further`() throws {
        let connection = try Connection()
        connection.channel.pipeline.fireErrorCaught(Failure())
        #expect(!connection.channel.isActive && connection.choices.isEmpty)
        try connection.channel.throwIfErrorCaught()
    }

    @Test func `an error after the first byte is that of the chosen handlers`() throws {
        let connection = try Connection()
        try connection.channel.writeInbound(ByteBuffer(string: "G"))
        connection.channel.pipeline.fireErrorCaught(Failure())
        #expect(connection.channel.isActive)
        #expect(throws: Failure.self) { try connection.channel.throwIfErrorCaught() }
    }
}
