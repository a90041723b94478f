import AldabaTestSupport
import Foundation
import Platform
import Testing

struct UnixAddressTests {
    @Test(arguments: [true, false]) func `who listens at an address is found there`(isAbstract: Bool) throws {
        let folder = try TemporaryFolder()
        let name = isAbstract ? "aldaba-test-\(UUID().uuidString)" : folder.path("socket")
        let address = try #require(isAbstract ? UnixAddress(abstractName: name) : UnixAddress(path: name))
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let (listener, caller) = (socket(AF_UNIX, kind, 0), socket(AF_UNIX, kind, 0))
        defer { for each in [listener, caller] { close(each) } }
        #expect(address.withPointer { connect(caller, $0, $1) } == -1)
        #expect(address.withPointer { bind(listener, $0, $1) } == 0 && listen(listener, 1) == 0)
        #expect(address.withPointer { connect(caller, $0, $1) } == 0)
        #expect(FileManager.default.fileExists(atPath: folder.path("socket")) == !isAbstract)
    }

    @Test func `a path has 1 to 107 bytes and no NUL`() {
        #expect(UnixAddress.longestPath == 107)
        #expect(UnixAddress(path: String(repeating: "x", count: 107)) != nil)
        for path in ["", String(repeating: "x", count: 108), "/a\0b"] { #expect(UnixAddress(path: path) == nil) }
        #expect(UnixAddress(abstractName: String(repeating: "x", count: 106)) != nil)
        #expect(UnixAddress(abstractName: String(repeating: "x", count: 107)) == nil)
    }
}
