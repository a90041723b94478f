import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Platform
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// Extensions as processes, each a shell script here.
@Suite(.timeLimit(.minutes(5)))
struct ExtensionProgramsTests {
    private let folder: TemporaryFolder
    private let happenings = Inbox<WatchedProgram.Event>()

    init() throws { folder = try TemporaryFolder() }

    private func app(_ script: String, executable: String = "/bin/sh") -> AppManifest {
        var app = todoManifest
        app.applicationGroups = ["group.com.example.todo", "group.com.example"]
        app.serviceExtension = ServiceExtensionManifest(
            id: "com.example.todo.Service", executable: executable, arguments: ["-c", script],
            environment: ["TODO": "1", "TMPDIR": "/nowhere"], principalClass: "Todo.Service")
        return app
    }

    private func programs(_ environment: [String: String] = ["PATH": "/usr/bin:/bin"]) -> ExtensionPrograms {
        ExtensionPrograms(
            folder: folder.path("extensions"), logFolder: folder.path("log"), environment: environment)
    }

    private var log: [Substring] {
        let text = try? String(contentsOfFile: folder.path("log/com.example.todo.Service.log"), encoding: .utf8)
        return (text ?? "").split(separator: "\n")
    }

    private func start(
        _ app: AppManifest, _ programs: ExtensionPrograms, variables: [String: String] = [:]
    ) throws -> any RunningExtension {
        try programs.start(of: app, variables: variables, events: { [happenings] in happenings.put($0) })
    }

    @Test func `it has its own folder, its own variables and none of the agent's settings`() async throws {
        let environment = ["PATH": "/usr/bin:/bin", "ALDABA_ENROLMENT_KEY": "secret", "HOME": "/home/x"]
        let running = try start(
            app("env | sort; stat -c %a $TMPDIR"), programs(environment), variables: ["ALDABA_AGENT_SOCKET": "/s"])
        #expect(await happenings.next() == .ended(.exited(0)))
        let temporary = try #require(log.first { $0.hasPrefix("TMPDIR=") }).dropFirst(7)
        #expect(temporary.hasPrefix(folder.path("extensions/")))
        #expect(log.last == "700")
        #expect(
            log.filter { $0.hasPrefix("ALDABA_") } == [
                "ALDABA_AGENT_SOCKET=/s", "ALDABA_APP_GROUPS=group.com.example.todo:group.com.example",
                "ALDABA_APP_ID=com.example.todo", "ALDABA_PRINCIPAL_CLASS=Todo.Service",
                "ALDABA_ROLE=serviceExtension",
            ])
        #expect(log.contains("HOME=/home/x") && log.contains("TODO=1"))
        running.clear()
        #expect(!FileManager.default.fileExists(atPath: String(temporary)))
    }

    @Test func `a program that is not there is thrown, and leaves no folder`() throws {
        let programs = programs()
        #expect(throws: MachineError.self) { try start(app("", executable: "/nowhere"), programs) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("extensions")) == [])
        #expect(throws: MachineError.self) { try start(todoManifest, programs) }
    }

    @Test func `what earlier processes left is deleted`() async throws {
        _ = try start(app("touch $TMPDIR/left"), programs())
        _ = await happenings.next()
        programs().clear()
        #expect(!FileManager.default.fileExists(atPath: folder.path("extensions")))
    }
}
