import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Testing

@testable import AgentRuntime

struct PeerCheckTests {
    @Test func `the system tells which program a process runs`() throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var manifest = todoManifest
        manifest.executable = own
        let peer = Peer(process: getpid(), user: getuid(), program: own)
        #expect(PeerCheck.system.fault(of: peer, as: manifest, secret: nil, expected: nil) == nil)
        #expect(PeerCheck.system.fault(of: peer, as: todoManifest, secret: nil, expected: nil)?.contains(own) == true)
    }

    @Test func `a link to the program is followed`() throws {
        let folder = try TemporaryFolder()
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: own)
        var manifest = todoManifest
        manifest.executable = folder.path("link")
        #expect(
            PeerCheck.system.fault(
                of: Peer(process: getpid(), user: getuid(), program: own), as: manifest, secret: nil, expected: nil)
                == nil)
    }

    @Test func `another user is refused`() {
        let check = PeerCheck(executable: { _ in todoManifest.executable }, user: 1000)
        #expect(
            check.fault(of: Peer(process: 1, user: 1001), as: todoManifest, secret: nil, expected: nil)
                == "it runs as another user")
        let own = Peer(process: 1, user: 1000, program: todoManifest.executable)
        #expect(check.fault(of: own, as: todoManifest, secret: nil, expected: nil) == nil)
    }

    @Test(arguments: ["/usr/bin/python3.11", nil])
    func `a program that connected and then started the app in its own place is refused`(program: String?) {
        let check = PeerCheck(executable: { _ in todoManifest.executable }, user: 1000)
        let fault = check.fault(
            of: Peer(process: 1, user: 1000, program: program), as: todoManifest, secret: nil, expected: nil)
        #expect(fault?.contains("when it connected") == true)
    }

    static let secrets: [(said: String?, expected: String?, isApp: Bool)] = [
        ("s3cret", "s3cret", true), ("s3creT", "s3cret", false), (nil, "s3cret", false), ("", "", false),
        ("s3cret", nil, false), ("s3cret and more", "s3cret", false),
    ]

    @Test(arguments: secrets.indices)
    func `a script proves itself by the secret beside its manifest`(index: Int) {
        let (said, expected, isApp) = Self.secrets[index]
        var manifest = todoManifest
        manifest.provesBySecret = true
        let check = PeerCheck(executable: { _ in "/usr/bin/python3" }, user: 1000)
        let peer = Peer(process: 1, user: 1000)
        #expect((check.fault(of: peer, as: manifest, secret: said, expected: expected) == nil) == isApp)
        #expect(
            check.fault(of: Peer(process: 1, user: 7), as: manifest, secret: "s3cret", expected: "s3cret") != nil)
    }

    @Test func `another program may not manage the agent`() async throws {
        let check = PeerCheck(executable: { $0 == getpid() ? "/usr/bin/aldaba" : "/usr/bin/other" }, user: getuid())
        #expect(check.isOwn(Peer(process: getpid(), user: getuid(), program: "/usr/bin/aldaba")))
        #expect(!check.isOwn(Peer(process: 1, user: getuid(), program: "/usr/bin/other")))
        #expect(!check.isOwn(Peer(process: getpid(), user: getuid(), program: "/usr/bin/other")))
        #expect(!check.isOwn(Peer(process: getpid(), user: getuid() + 1, program: "/usr/bin/aldaba")))
    }
}
