import Flutter
import Testing

@Suite struct ChannelFrameTests {
    static let frames: [(ChannelFrame, [UInt8])] = [
        (
            .message(number: 7, channel: "a/b", content: [9, 8]),
            [12, 0, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0x61, 0x2F, 0x62, 9, 8]
        ),
        (.reply(number: 258, content: []), [5, 0, 0, 0, 1, 2, 1, 0, 0]),
    ]

    @Test("a frame has this form", arguments: frames)
    func form(_ frame: ChannelFrame, _ bytes: [UInt8]) throws {
        #expect(try frame.bytes() == bytes)
        var decoder = ChannelFrameDecoder()
        decoder.append(bytes)
        #expect(try decoder.next() == frame)
        #expect(try decoder.next() == nil)
    }

    @Test("frames are cut out of a stream wherever it is split")
    func split() throws {
        let stream = Self.frames.flatMap(\.1)
        for size in 1...stream.count {
            var decoder = ChannelFrameDecoder()
            var frames: [ChannelFrame] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                decoder.append(stream[start..<min(start + size, stream.count)])
                while let frame = try decoder.next() { frames.append(frame) }
            }
            #expect(frames == Self.frames.map(\.0))
        }
    }

    @Test(
        "what is no frame is refused",
        arguments: [
            [4, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 2, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0, 0],
            [7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0], [8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0xFF],
        ] as [[UInt8]])
    func malformed(_ bytes: [UInt8]) {
        var decoder = ChannelFrameDecoder()
        decoder.append(bytes)
        #expect(throws: ChannelFrameError.malformed) { try decoder.next() }
    }

    @Test("a frame beyond the limit is refused by its length, at both ends")
    func tooLong() {
        var decoder = ChannelFrameDecoder()
        decoder.append([1, 0, 0x40, 0])
        #expect(throws: ChannelFrameError.tooLong((4 << 20) + 1)) { try decoder.next() }
        let frame = ChannelFrame.reply(number: 0, content: Array(repeating: 0, count: 4 << 20))
        #expect(throws: ChannelFrameError.tooLong((4 << 20) + 5)) { try frame.bytes() }
    }
}
