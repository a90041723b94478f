import DeviceChannel
import Testing

@Suite struct MCSTurnAwayTests {
    @Test(arguments: [1, 1000, 450_000, 999_999_999] as [Int64])
    func `a device reads how long it is to stay away, however the bytes come`(pause: Int64) {
        let bytes = MCSRejection.bytes(retryAfter: pause)
        for count in 0..<bytes.count { #expect(MCSRejection.read(bytes.prefix(count)) == .incomplete) }
        #expect(MCSRejection.read(bytes) == .retryAfter(pause))
        #expect(MCSRejection.read(bytes + [1, 2, 3]) == .retryAfter(pause))
    }

    @Test func `every TLS client reads a fatal alert`() {
        #expect(Array(MCSRejection.bytes(retryAfter: 5).prefix(7)) == [0x15, 3, 3, 0, 2, 2, 0x50])
        #expect(MCSRejection.read(MCSRejection.bytes(retryAfter: .max)) == .retryAfter(999_999_999))
        #expect(MCSRejection.read(MCSRejection.bytes(retryAfter: .min)) == .retryAfter(1))
    }

    @Test(arguments: ["", "0\n", "x\n", "5 \n", "-5\n", "1234567890\n", "1234567890"])
    func `what is no time is something else`(text: String) {
        let mark = MCSRejection.bytes(retryAfter: 5).dropLast(2)
        #expect(MCSRejection.read(mark + Array(text.utf8)) == (text.isEmpty ? .incomplete : .other))
    }

    @Test(arguments: [[0x16, 3, 3], [0x15, 3, 3, 0, 2, 2, 40], [0x15, 3, 1], Array("HTTP/1.1".utf8)] as [[UInt8]])
    func `TLS and other protocols are left alone`(bytes: [UInt8]) {
        #expect(MCSRejection.read(bytes) == .other)
    }
}
