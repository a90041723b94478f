import Testing

@testable import NATSCarrier

@Suite struct NATSFrameDecoderTests {
    private static let stream = """
        INFO {"max_payload":1048576}\r\n+OK\r\nPING\r\nPONG\r\n\
        MSG aldaba.a.1 1 _INBOX.x.7 5\r\nhello\r\nMSG aldaba.a.1 1 0\r\n\r\n\
        HMSG _INBOX.x.7 2 16 16\r\nNATS/1.0 503\r\n\r\n\r\n-ERR 'Authorization Violation'\r\n
        """
    private static let frames: [NATSFrame] = [
        .info(Array(#"{"max_payload":1048576}"#.utf8)), .ok, .ping, .pong,
        .message(
            NATSMessage(subject: "aldaba.a.1", subscription: "1", reply: "_INBOX.x.7", payload: Array("hello".utf8))),
        .message(NATSMessage(subject: "aldaba.a.1", subscription: "1", payload: [])),
        .message(NATSMessage(subject: "_INBOX.x.7", subscription: "2", status: 503, payload: [])),
        .error("Authorization Violation"),
    ]

    @Test(arguments: [1, 2, 3, 7, 64, 4096])
    func `frames are decoded from pieces of any size`(size: Int) throws {
        var decoder = NATSFrameDecoder()
        var frames: [NATSFrame] = []
        var rest = Array(Self.stream.utf8)[...]
        while !rest.isEmpty {
            decoder.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let frame = try decoder.next() { frames.append(frame) }
        }
        #expect(frames == Self.frames)
    }

    @Test(
        arguments: [
            "HELLO\r\n", "MSG a\r\n", "MSG a 1 x\r\n", "MSG a 1 -1\r\n", "MSG a 1 99999999999\r\n", "HMSG a 1 5 4\r\n",
            "MSG a 1 1\r\nabc\r\n",
        ])
    func `what is no frame is an error`(text: String) {
        var decoder = NATSFrameDecoder()
        decoder.append(text.utf8)
        #expect(throws: NATSFrameError.self) { while try decoder.next() != nil {} }
    }

    @Test func `a line without an end is an error`() {
        var decoder = NATSFrameDecoder()
        decoder.append(repeatElement(UInt8(ascii: "a"), count: NATSFrameDecoder.lineLimit + 1))
        #expect(throws: NATSFrameError.self) { try decoder.next() }
    }
}
