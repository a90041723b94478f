import AgentProtocol
import Testing

private func bytes(_ text: String) -> [UInt8] { Array(text.unicodeScalars.map { UInt8($0.value) }) }

@Test(arguments: [
    ("\u{89}PNG\r\n\u{1A}\n\0\0\0\u{0D}IHDR", MediaFormat.png),
    ("\u{FF}\u{D8}\u{FF}\u{E0}\0\u{10}JFIF", .jpeg),
    ("GIF87a\u{1}\0", .gif), ("GIF89a\u{1}\0", .gif),
    ("RIFF\u{24}\0\0\0WAVEfmt ", .wav), ("RIFF\u{24}\0\0\0AVI LIST", .avi),
    ("FORM\0\0\0\u{24}AIFFCOMM", .aiff), ("FORM\0\0\0\u{24}AIFCFVER", .aiff),
    ("\0\0\0\u{20}ftypM4A \0\0\u{2}\0", .m4a), ("\0\0\0\u{20}ftypisom\0\0\u{2}\0", .mp4),
    ("\0\0\0\u{18}ftypmp42\0\0\0\0", .mp4), ("\0\0\u{1}\u{BA}\u{44}\0", .mpeg), ("\0\0\u{1}\u{B3}\u{16}\0", .mpeg),
    ("ID3\u{4}\0\0", .mp3), ("\u{FF}\u{FB}\u{90}\u{64}", .mp3), ("\u{FF}\u{F3}\u{40}\u{C4}", .mp3),
])
func `a file is known by its first bytes`(head: String, format: MediaFormat) {
    #expect(MediaFormat(head: bytes(head)) == format)
    #expect(MediaFormat(head: bytes(head) + Array(repeating: 0, count: 100)) == format)
}

@Test(arguments: [
    "", "\u{89}PNG", "\u{89}PNG\r\n\u{1A}\n\0\0\0\u{0D}JUNK", "GIF88a", "RIFF\u{24}\0\0\0WEBPVP8 ",
    "\0\0\0\u{18}ftypheic\0\0\0\0", "\0\0\0\u{1C}ftypavif\0\0\0\0", "\0\0\0\u{14}ftypqt  \0\0\0\0",
    "\u{FF}\u{F1}\u{50}\u{80}", "\u{FF}\u{FB}\u{F0}\u{64}", "\u{FF}\u{FB}\u{9C}\u{64}", "\u{FF}\u{EB}\u{90}\u{64}",
    "<html><body>GIF89a", "%PDF-1.7", "PK\u{3}\u{4}", "\u{7F}ELF\u{2}\u{1}\u{1}\0",
])
func `what no notification can carry is not known`(head: String) {
    #expect(MediaFormat(head: bytes(head)) == nil)
}

@Test func `the sizes are those of Apple's table`() {
    #expect(MediaKind.allCases.map(\.limit) == [5_242_880, 10_485_760, 52_428_800])
    #expect(MediaKind.largest == 52_428_800)
}

@Test func `each format has a media type of its kind`() {
    for format in MediaFormat.allCases {
        let top = format.contentType.prefix { $0 != "/" }
        #expect(top == (format.kind == .movie ? "video" : format.kind.rawValue))
    }
}
