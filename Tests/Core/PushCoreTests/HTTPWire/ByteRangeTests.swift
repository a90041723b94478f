import PushCore
import Testing

@Test(
    arguments: [
        (nil, .whole), ("bytes=0-", .part(0..<10)), ("bytes=0-0", .part(0..<1)), ("bytes=3-5", .part(3..<6)),
        ("BYTES=3-5", .part(3..<6)), ("bytes= 3-5\t", .part(3..<6)), ("bytes=9-", .part(9..<10)),
        ("bytes=3-10", .part(3..<10)), ("bytes=3-99999999999999999999", .part(3..<10)),
        ("bytes=-1", .part(9..<10)), ("bytes=-10", .part(0..<10)), ("bytes=-99999999999999999999", .part(0..<10)),
        ("bytes=10-", .unsatisfiable), ("bytes=10-11", .unsatisfiable), ("bytes=-0", .unsatisfiable),
        ("bytes=99999999999999999999-", .unsatisfiable),
        // What cannot be read, and what is not understood, asks for everything.
        ("", .whole), ("bytes", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes=5-3", .whole),
        ("bytes=a-b", .whole), ("bytes=1-2-3", .whole), ("bytes=+1-2", .whole), ("bytes=0-1,3-4", .whole),
        ("lines=1-2", .whole), ("bytes 0-1", .whole), ("bytes=1 -2", .whole),
    ] as [(String?, ByteRange)])
func `a range of ten bytes is read`(field: String?, range: ByteRange) {
    #expect(ByteRange(field: field, length: 10) == range)
}

@Test(arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"])
func `nothing can be had of what is empty`(field: String) {
    #expect(ByteRange(field: field, length: 0) == .unsatisfiable)
    #expect(ByteRange(field: field, length: -1) == .unsatisfiable)
}

@Test func `the last byte of the longest file there can be is had`() {
    #expect(ByteRange(field: "bytes=-1", length: .max) == .part(.max - 1 ..< .max))
    #expect(ByteRange(field: "bytes=0-", length: .max) == .part(0 ..< .max))
}

@Test(arguments: [
    (nil, false), ("*", true), (" * ", false), ("\"a1\"", true), ("W/\"a1\"", true), ("\"b2\"", false),
    ("\"b2\", \"a1\"", true), ("\"b2\",,W/\"a1\"", true), ("\"b,\"a1\"", false), ("a1", false), ("\"a1", false),
    ("", false), (",", false), ("\"b2\" \"a1\"", true), ("w/\"a1\"", false), ("\"a1\"x", false),
    ("\"a1\"\u{301}", false), ("\"b2\"\u{FFFD}, \"a1\"", false),
])
func `a client has what it names`(field: String?, has: Bool) {
    #expect(EntityTag("a1").isNamed(inIfNoneMatch: field) == has)
}

@Test(arguments: [
    (nil, true), ("\"a1\"", true), ("W/\"a1\"", false), ("\"b2\"", false), ("Wed, 21 Oct 2026 07:28:00 GMT", false),
])
func `a part is sent of what the client has the beginning of`(field: String?, allows: Bool) {
    #expect(EntityTag("a1").allowsRange(ifRange: field) == allows)
}

@Test func `a tag has no sign that ends it`() {
    #expect(EntityTag("a\"b c\n").text == "\"abc\"")
}
