import Flutter
import Testing

/// The vectors are those of Flutter's own tests (flutter/engine, `standard_message_codec_unittests.cc`,
/// `fl_standard_message_codec_test.cc`, `fl_standard_method_codec_test.cc`).
@Suite struct StandardCodecTests {
    static let vectors: [(StandardValue, String)] = [
        (.null, "00"), (.bool(true), "01"), (.bool(false), "02"),
        (.integer(0x1234_5678), "0378563412"),
        (.integer(Int64(Int32.min)), "0300000080"),
        (.integer(0x8000_0000), "040000008000000000"),
        (.integer(0x1234_5678_90ab_cdef), "04efcdab9078563412"),
        (.double(3.14159265358979311599796346854), "0600000000000000182d4454fb210940"),
        (.double(-0.0), "06000000000000000000000000000080"),
        (.string("hello world"), "070b68656c6c6f20776f726c64"),
        (.string("h\u{263A}w"), "070568e298ba77"),
        (.string("h\u{1F602}w"), "070668f09f988277"),
        (.bytes([0xba, 0x5e, 0xba, 0x11]), "0804ba5eba11"),
        (.int32List([0x1234_5678, -1, 0]), "0903000078563412ffffffff00000000"),
        (
            .int64List([0x1234_5678_90ab_cdef, -1]),
            "0a02000000000000efcdab9078563412ffffffffffffffff"
        ),
        (.floatList([3.1415920257568359375, 1000]), "0e020000d80f494000007a44"),
        (
            .doubleList([3.14159265358979311599796346854, 1000]),
            "0b02000000000000182d4454fb2109400000000000408f40"
        ),
        (
            .list([.null, .string("hello"), .double(3.14), .integer(47), .list([.integer(42), .string("nested")])]),
            "0c05000705" + "68656c6c6f" + "060000000000" + "1f85eb51b81e0940" + "032f000000" + "0c02" + "032a000000"
                + "07066e6573746564"
        ),
    ]

    @Test("a value is written as Flutter's own tests have it, and read again", arguments: vectors)
    func values(_ value: StandardValue, _ hex: String) throws {
        var writer = StandardWriter()
        writer.write(value)
        #expect(writer.bytes == Self.bytes(hex))
        #expect(try StandardReader.value(of: Self.bytes(hex)) == value)
    }

    @Test(
        "counts have one, three or five bytes",
        arguments: [(253, [253]), (254, [254, 254, 0]), (0xFFFF, [254, 255, 255]), (0x10000, [255, 0, 0, 1, 0])])
    func counts(_ count: Int, _ size: [UInt8]) throws {
        let value = StandardValue.string(String(repeating: "a", count: count))
        var writer = StandardWriter()
        writer.write(value)
        #expect(Array(writer.bytes.prefix(1 + size.count)) == [7] + size)
        #expect(writer.bytes.count == 1 + size.count + count)
        #expect(try StandardReader.value(of: writer.bytes) == value)
    }

    @Test("an empty message is null, and a large integer's digits are read")
    func oldForms() throws {
        #expect(try StandardReader.value(of: []) == .null)
        #expect(try StandardReader.value(of: Self.bytes("05023132")) == .largeInteger("12"))
    }

    @Test(
        "what is no message is refused with its place",
        arguments: [
            ("80", StandardCodecError.unknownTag(128, at: 0)), ("0f", .unknownTag(15, at: 0)),
            ("03010203", .truncated(at: 4)), ("07056865", .truncated(at: 4)), ("0701ff", .notUTF8(at: 1)),
            ("0cff7fffffff", .truncated(at: 6)), ("09ffffffff7f0000", .truncated(at: 8)),
            ("0000", .trailingBytes(at: 1)),
            ("06000000000000", .truncated(at: 7)),
        ])
    func refused(_ hex: String, _ error: StandardCodecError) {
        #expect(throws: error) { try StandardReader.value(of: Self.bytes(hex)) }
    }

    @Test("lists end at 64 levels")
    func depth() throws {
        let deepest = StandardReader.deepest
        #expect(throws: Never.self) {
            try StandardReader.value(of: Array(repeating: [12, 1], count: deepest).flatMap(\.self) + [0])
        }
        #expect(throws: StandardCodecError.self) {
            try StandardReader.value(of: Array(repeating: [12, 1], count: deepest + 1).flatMap(\.self) + [0])
        }
    }

    @Test("no bytes crash the reader, and what it reads is written to what reads the same")
    func anything() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...16, using: &random)
            }
            guard let value = try? StandardReader.value(of: bytes) else { continue }
            var writer = StandardWriter()
            writer.write(value)
            // Compared as bytes: a NaN does not equal itself.
            let again = writer.bytes
            writer = StandardWriter()
            if let reread = try? StandardReader.value(of: again) { writer.write(reread) }
            #expect(writer.bytes == again, "\(bytes)")
        }
    }

    static let calls: [(StandardMethodCall, String)] = [
        (StandardMethodCall("hello"), "070568656c6c6f00"),
        (StandardMethodCall("hello", .string("world")), "070568656c6c6f0705776f726c64"),
        (
            StandardMethodCall("hello", .list([.string("count"), .integer(42)])),
            "070568656c6c6f0c020705636f756e74032a000000"
        ),
        (StandardMethodCall("getDeviceToken"), "070e676574446576696365546f6b656e00"),
    ]

    @Test("a call is its name and its arguments", arguments: calls)
    func readsCall(_ call: StandardMethodCall, _ hex: String) throws {
        #expect(call.message == Self.bytes(hex))
        #expect(try StandardMethodCall(message: Self.bytes(hex)) == call)
    }

    @Test(
        "what is no call is refused", arguments: ["", "000000", "070568656c6c6f", "070568656c6c6f0000", "0300000000"])
    func noCalls(_ hex: String) {
        #expect(throws: StandardCodecError.self) { try StandardMethodCall(message: Self.bytes(hex)) }
    }

    static let replies: [(StandardMethodReply, String)] = [
        (.success(.null), "0000"), (.success(.string("hello")), "00070568656c6c6f"),
        (.success(.string("apns")), "00070461706e73"),
        (.success(.double(1)), "0006000000000000000000000000f03f"),
        (.success(.integer(1 << 31)), "00040000008000000000"),
        (.failure(code: "", message: nil, details: .null), "0107000000"),
        (.failure(code: "error", message: "message", details: .null), "0107056572726f7207076d65737361676500"),
        (
            .failure(code: "error", message: "message", details: .list([.string("count"), .integer(42)])),
            "0107056572726f7207076d6573736167650c020705636f756e74032a000000"
        ),
        (
            .failure(code: "UNAVAILABLE", message: "no token", details: .null),
            "01070b554e415641494c41424c4507086e6f20746f6b656e00"
        ),
        (.notImplemented, ""),
    ]

    @Test("a reply is a result, an error, or nothing", arguments: replies)
    func readsReply(_ reply: StandardMethodReply, _ hex: String) throws {
        #expect(reply.message == Self.bytes(hex))
        #expect(try StandardMethodReply(message: Self.bytes(hex)) == reply)
    }

    @Test("a stack trace after an error is passed over, and what is no reply is refused")
    func oddReplies() throws {
        let traced = Self.bytes("0107056572726f720000" + "070474726163")
        #expect(try StandardMethodReply(message: traced) == .failure(code: "error", message: nil, details: .null))
        for hex in ["00", "02", "000000", "01000000", "010700030000000000"] {
            #expect(throws: StandardCodecError.self, "\(hex)") { try StandardMethodReply(message: Self.bytes(hex)) }
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
