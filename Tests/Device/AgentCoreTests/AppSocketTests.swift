import AgentWire
import AldabaTestSupport
import DeviceModel
import DevicePorts
import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import AgentCore
@testable import AppConnections
@testable import DevicePrograms
@testable import DeviceStore
@testable import InstalledApps

@Suite(.timeLimit(.minutes(1)))
struct AppSocketTests {
    private final class Nobody: AppSocketDelegate {
        func received(_ messages: [AppMessage], from connection: AppConnection) {}
        func closed(_ connection: AppConnection) {}
    }

    private func listen(_ path: String) async throws -> AppSocket {
        try await AppSocket.listen(path: path, group: MultiThreadedEventLoopGroup.singleton, delegate: Nobody())
    }

    @Test func `a socket where another agent answers is not taken`() async throws {
        let folder = try TemporaryFolder()
        let socket = try await listen(folder.path("agent.sock"))
        let failure = await #expect(throws: AgentStartFailure.self) { try await listen(folder.path("agent.sock")) }
        #expect(failure?.description.contains("another agent answers") == true)
        await socket.close()
        #expect(!FileManager.default.fileExists(atPath: folder.path("agent.sock")))
    }

    @Test func `a socket that a dead agent left is replaced`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("agent.sock")
        try Data().write(to: URL(fileURLWithPath: path))
        let socket = try await listen(path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        await socket.close()
    }

    @Test func `a folder is made for it that nobody else can enter`() async throws {
        let folder = try TemporaryFolder()
        let socket = try await listen(folder.path("made/agent.sock"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("made"))
        #expect((attributes[.posixPermissions] as? Int) == 0o700)
        await socket.close()
    }

    @Test func `a folder where others can write is refused`() async throws {
        let folder = try TemporaryFolder()
        chmod(folder.url.path, 0o777)
        let failure = await #expect(throws: AgentStartFailure.self) { try await listen(folder.path("agent.sock")) }
        #expect(failure?.description.contains("others can write to it") == true)
    }

    @Test func `a path that no socket can have is refused`() async throws {
        let path = "/tmp/" + String(repeating: "x", count: 120)
        let failure = await #expect(throws: AgentStartFailure.self) { try await listen(path) }
        #expect(failure?.description.contains("107 bytes") == true)
    }
}

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
}

@Suite(.timeLimit(.minutes(1)))
struct ProcessLauncherTests {
    private func manifest(_ script: String) -> AppManifest {
        var manifest = todoManifest
        manifest.executable = "/bin/sh"
        manifest.arguments = ["-c", script]
        manifest.environment = ["FROM_MANIFEST": "a"]
        return manifest
    }

    @Test func `an app starts in a session of its own with the variables that it needs`() async throws {
        let folder = try TemporaryFolder()
        let script =
            "echo $FROM_MANIFEST $FROM_AGENT; [ $(ps -o sid= -p $$) = $$ ] && echo own; ls /proc/self/fd | wc -l"
        let launcher = ProcessLauncher(logFolder: folder.path("log"))
        let ended = Inbox<pid_t>()
        let process = try launcher.launch(manifest(script), variables: ["FROM_AGENT": "b"]) { ended.put($0) }
        #expect(await ended.next() == process)
        let log = try String(contentsOfFile: folder.path("log/com.example.todo.log"), encoding: .utf8)
        // Three standard descriptors, and the one with which `ls` reads the folder.
        #expect(log == "a b\nown\n4\n")
    }

    @Test func `an app gets none of the agent's settings`() async throws {
        let folder = try TemporaryFolder()
        let environment = ["ALDABA_ENROLMENT_KEY": "secret", "ALDABA_AGENT_CONTROL": "x", "PATH": "/usr/bin:/bin"]
        let launcher = ProcessLauncher(logFolder: folder.path("log"), environment: environment)
        let ended = Inbox<pid_t>()
        _ = try launcher.launch(manifest("env | sort"), variables: ["ALDABA_APP_ID": "b"]) { ended.put($0) }
        _ = await ended.next()
        let log = try String(contentsOfFile: folder.path("log/com.example.todo.log"), encoding: .utf8)
        #expect(log.contains("ALDABA_APP_ID=b\n") && log.contains("PATH="))
        #expect(log.components(separatedBy: "ALDABA_").count == 2, "\(log)")
    }

    @Test func `an app of a supervised agent has the agent's standard input, and ends with it`() async throws {
        let folder = try TemporaryFolder()
        let pipe = Pipe()
        let launcher = ProcessLauncher(
            logFolder: folder.path("log"), environment: ["ALDABA_SUPERVISED": "1", "PATH": "/usr/bin:/bin"],
            input: pipe.fileHandleForReading.fileDescriptor)
        let ended = Inbox<pid_t>()
        _ = try launcher.launch(manifest("echo $ALDABA_SUPERVISED; cat"), variables: [:]) { ended.put($0) }
        try pipe.fileHandleForWriting.write(contentsOf: Data("held\n".utf8))
        try pipe.fileHandleForWriting.close()
        _ = await ended.next()
        let log = try String(contentsOfFile: folder.path("log/com.example.todo.log"), encoding: .utf8)
        #expect(log == "1\nheld\n")
    }

    @Test func `a program that is not there is a reason`() throws {
        let folder = try TemporaryFolder()
        let launcher = ProcessLauncher(logFolder: folder.path("log"))
        let failure = #expect(throws: AppLaunchFailure.self) {
            try launcher.launch(todoManifest, variables: [:]) { _ in }
        }
        #expect(failure?.description == "/opt/todo: No such file or directory")
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

    @Test func `an installed script has a secret that nobody else can read, and keeps it`() throws {
        let folder = try TemporaryFolder()
        let apps = AppFolder(path: folder.path("apps"))
        var manifest = todoManifest
        manifest.provesBySecret = true
        try apps.install(manifest)
        let secret = try #require(apps.secret(of: manifest.id))
        #expect(secret.count == 64)
        let attributes = try FileManager.default.attributesOfItem(atPath: apps.secretPath(of: manifest.id))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try apps.install(manifest)
        #expect(apps.secret(of: manifest.id) == secret)
        #expect(apps.load().apps[manifest.id] == manifest)
    }
}

struct VisitorsTests {
    @Test func `who says nothing makes room for who comes, and who has spoken stays`() throws {
        let visitors = AppConnectionLimiter(limit: 2)
        let (first, second, third, fourth) = (
            EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel()
        )
        let all = [first, second, third, fourth]
        for channel in all { try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait() }
        #expect(visitors.enter(first) && visitors.enter(second))
        visitors.spoke(first)
        #expect(visitors.enter(third))
        #expect(all.map(\.isActive) == [true, false, true, true])
        visitors.leave(second)
        visitors.spoke(third)
        #expect(!visitors.enter(fourth))
        visitors.leave(first)
        #expect(visitors.enter(fourth))
    }
}
