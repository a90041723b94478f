import AldabaTestSupport
import Foundation
import Testing
import aldaba

@Test(arguments: ["path", "abstract"])
func `systemd is told when the service is ready`(kind: String) throws {
    let folder = try AldabaTestSupport.TemporaryFolder()
    let name = kind == "path" ? folder.path("notify") : "@aldaba-test-\(UUID().uuidString)"
    let listener = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if kind == "abstract" { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
    }
    try #require(bound == 0)
    #expect(ReadyNotice.send(environment: ["NOTIFY_SOCKET": name]))
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = recv(listener, &buffer, buffer.count, 0)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\n")
}

@Test(arguments: [nil, "", "relative", "/no/such/socket", "/" + String(repeating: "x", count: 200)])
func `without anybody who listens nothing is told`(name: String?) {
    #expect(!ReadyNotice.send(environment: name.map { ["NOTIFY_SOCKET": $0] } ?? [:]))
}
