import Crypto
import Foundation
import PushCore
import Testing

@testable import AldabaConfiguration

@Test func `a second lock on a folder is refused and names who holds it`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/up.lock"
    let first = try DataFolder.lock(path)
    do {
        _ = try DataFolder.lock(path)
        Issue.record("two locks were given out")
    } catch {
        #expect("\(error)".contains("pid \(ProcessInfo.processInfo.processIdentifier)"))
    }
    withExtendedLifetime(first) {}
}

@Test func `a lock ends with its holder`() throws {
    let folder = try TemporaryFolder()
    do { _ = try DataFolder.lock(folder.path + "/lock") }
    #expect(throws: Never.self) { try DataFolder.lock(folder.path + "/lock") }
}

@Test func `folders are made for their owner alone`() throws {
    let folder = try TemporaryFolder()
    try DataFolder(root: folder.path + "/a/b").make()
    #expect(try folder.permissions("a/b") == 0o700)
    #expect(try folder.permissions("a/b/keys") == 0o700)
}

@Test func `a folder that others use is refused and left as it is`() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.path + "/theirs"))
    for mode in [0o755, 0o1777] {
        chmod(folder.path, mode_t(mode))
        #expect(throws: PrivateFile.Failure.self) { try DataFolder(root: folder.path).make() }
        #expect(try folder.permissions(".") == mode)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["theirs"])
}

@Test(arguments: [0o720, 0o702, 0o770, 0o777])
func `a folder that others can write is refused, and the refusal says what to do`(mode: Int) throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write([], to: folder.path + "/server.sqlite")
    chmod(folder.path, mode_t(mode))
    let failure = #expect(throws: PrivateFile.Failure.self) { try DataFolder(root: folder.path).make() }
    #expect(failure?.description.hasSuffix("chmod go-w \(folder.path)") == true)
    #expect(try folder.permissions(".") == mode)
}

@Test func `a lock that is a symbolic link is refused, and what it leads to is left as it is`() throws {
    let folder = try TemporaryFolder()
    let (theirs, path) = (folder.path + "/theirs", folder.path + "/agent.lock")
    try PrivateFile.write(Array("theirs".utf8), to: theirs)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: theirs)
    let refusal = #expect(throws: DataFolderRejection.self) { try DataFolder.lock(path) }
    #expect(refusal?.description.contains("symbolic link") == true)
    #expect(try PrivateFile.text(theirs) == "theirs")
}

@Test(arguments: [nil, "server.sqlite", "up.lock"])
func `an empty folder and one that holds our files are narrowed`(mark: String?) throws {
    let folder = try TemporaryFolder()
    if let mark { try PrivateFile.write([], to: "\(folder.path)/\(mark)") }
    chmod(folder.path, 0o755)
    try DataFolder(root: folder.path).make()
    #expect(try folder.permissions(".") == 0o700)
}

@Test func `a file's bytes are read as they are`() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write([0x22, 0xff, 0x22], to: folder.path + "/file")
    #expect(try PrivateFile.bytes(folder.path + "/file") == [0x22, 0xff, 0x22])
    #expect(try PrivateFile.bytes(folder.path + "/other") == nil)
    try PrivateFile.write([], to: folder.path + "/empty")
    #expect(try PrivateFile.bytes(folder.path + "/empty") == [])
}

@Test func `a look at a lock names its holder and changes nothing`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/up.lock"
    #expect(DataFolder.refusal(ofLock: path) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    do {
        let held = try DataFolder.lock(path)
        #expect("\(try #require(DataFolder.refusal(ofLock: path)))".contains("pid \(getpid())"))
        withExtendedLifetime(held) {}
    }
    try PrivateFile.write(Array("77\n".utf8), to: path)
    #expect(DataFolder.refusal(ofLock: path) == nil)
    #expect(try PrivateFile.text(path) == "77\n")
}

@Test func `a folder that is a file is refused with its path`() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write([1], to: folder.path + "/file")
    #expect(throws: PrivateFile.Failure.self) { try PrivateFile.makeFolder(folder.path + "/file") }
}

@Test func `a file is replaced whole, with its permissions`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    try PrivateFile.write(Array("one".utf8), to: path)
    try PrivateFile.write(Array("two".utf8), to: path)
    #expect(try PrivateFile.text(path) == "two")
    #expect(try folder.permissions("file") == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
}

@Test func `a socket path always fits the kernel's limit`() {
    let short = DataFolder(root: "/data")
    #expect(short.agentSocket(environment: [:]) == "/data/agent.sock")
    let long = DataFolder(root: "/" + String(repeating: "x", count: 120))
    #expect(long.agentSocket(environment: [:]).utf8.count <= 107)
    let inRuntime = long.agentSocket(environment: ["XDG_RUNTIME_DIR": "/run/user/1000"])
    #expect(inRuntime.hasPrefix("/run/user/1000/aldaba-"))
    #expect(inRuntime == long.agentSocket(environment: ["XDG_RUNTIME_DIR": "/run/user/1000"]))
}

@Test func `a provider key is found again under its id and signs for its team`() throws {
    let folder = try TemporaryFolder()
    let ring = KeyRing(folder: folder.path)
    let made = ProviderKeyFile.make()
    let entry = try ring.add(made, team: TeamID(rawValue: "TEAM000001"), at: Timestamp(rawValue: 5))
    #expect(KeyID.hasShape(made.keyID.rawValue))
    #expect(try ring.entry(team: "TEAM000001") == entry)
    #expect(try ring.entry(team: "TEAM000002") == nil)
    let read = try ProviderKeyFile(path: ring.path(of: entry))
    #expect(read.keyID == made.keyID)
    #expect(read.key.rawRepresentation == made.key.rawRepresentation)
    #expect(try folder.permissions("AuthKey_\(made.keyID).p8") == 0o600)
    #expect(try PrivateFile.text(ring.path(of: entry))?.hasPrefix("-----BEGIN PRIVATE KEY-----") == true)
}

@Test func `keys that are made at the same time are all in the list`() async throws {
    let folder = try TemporaryFolder()
    let ring = KeyRing(folder: folder.path)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...16 {
            group.addTask {
                _ = try ring.add(
                    .make(), team: TeamID(rawValue: "TEAM000001"), at: Timestamp(rawValue: Int64(number)))
            }
        }
        try await group.waitForAll()
    }
    #expect(try ring.entries().map(\.createdAt) == Array(1...16))
}

@Test func `only a team's keys with a file can sign for it, the oldest first`() throws {
    let folder = try TemporaryFolder()
    let ring = KeyRing(folder: folder.path)
    let team = TeamID(rawValue: "TEAM000001")
    let entries = try (1...4).map { number in
        try ring.add(
            .make(), team: number == 1 ? TeamID(rawValue: "TEAM000002") : team, at: Timestamp(rawValue: Int64(number)))
    }
    try FileManager.default.removeItem(atPath: ring.path(of: entries[1]))
    #expect(try ring.usable(team: team).map(\.entry) == [entries[2], entries[3]])
}

@Test(arguments: ["AuthKey_short.p8", "other.p8", "AuthKey_ABCDE12345.p8"])
func `what is no key file is refused with a reason`(name: String) throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write(Array("nothing".utf8), to: "\(folder.path)/\(name)")
    #expect(throws: ProviderKeyFile.Unreadable.self) { try ProviderKeyFile(path: "\(folder.path)/\(name)") }
}

@Test func `sealing keys are made once, and a damaged file is refused`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/token.key"
    let keys = try SealingKeys.ensure(path)
    #expect(keys.wrappedValue.map(\.count) == [32])
    #expect(try SealingKeys.ensure(path) == keys)
    try PrivateFile.write(Array("abc\n".utf8), to: path)
    #expect(throws: SealingKeys.Unreadable.self) { try SealingKeys.ensure(path) }
}

@Test func `a port in use names its holder`() throws {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(server) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = bind(server, $0, length)
            listen(server, 1)
            getsockname(server, $0, &length)
        }
    }
    let taken = try #require(PortCheck.taken(Int(UInt16(bigEndian: address.sin_port))))
    #expect(taken.process == ProcessInfo.processInfo.processIdentifier)
    #expect(PortCheck.taken(0) == nil)
}

@Test func `addresses survive their line`() throws {
    let addresses = ServerAddresses(
        process: 1, host: "127.0.0.1", apnsPort: 2, devicePort: 3, controlPort: 4, httpPort: nil, metricsPort: 5,
        environment: "sandbox")
    #expect(ServerAddresses(line: try addresses.line()) == addresses)
    #expect(ServerAddresses(line: "something else") == nil)
    #expect(addresses.apns == "https://127.0.0.1:2")
}

@Test func `an IPv6 address stands in brackets, and what is on loopback always names that`() {
    let addresses = ServerAddresses(
        process: 1, host: "::1", apnsPort: 2, devicePort: 3, controlPort: 4, httpPort: 5, metricsPort: 6,
        environment: "sandbox")
    #expect(addresses.apns == "https://[::1]:2")
    #expect(addresses.device == "[::1]:3")
    #expect(addresses.control == "https://[::1]:4")
    #expect(addresses.http == "http://127.0.0.1:5")
    #expect(addresses.metrics == "http://127.0.0.1:6")
}

@Test(arguments: [
    ("host:1", "host"), ("127.0.0.1:65535", "127.0.0.1"), ("[::1]:2", "::1"), ("::1:2", nil), (":2", nil),
    ("[]:2", nil), ("host", nil), ("host:0", nil), ("host:65536", nil), ("host:x", nil),
])
func `host and port are read in this way`(text: String, host: String?) {
    #expect(ServerAddresses.parts(ofAuthority: text)?.host == host)
}
