import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Testing

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5)))
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
        var manifest = manifest("env | sort")
        manifest.resources = "/opt/todo"
        _ = try launcher.launch(manifest, variables: ["ALDABA_APP_ID": "b"]) { ended.put($0) }
        _ = await ended.next()
        let log = try String(contentsOfFile: folder.path("log/com.example.todo.log"), encoding: .utf8)
        #expect(
            log.contains("ALDABA_APP_GROUPS=\nALDABA_APP_ID=b\nALDABA_APP_RESOURCES=/opt/todo\n")
                && log.contains("PATH="))
        #expect(log.components(separatedBy: "ALDABA_").count == 4, "\(log)")
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
        let failure = #expect(throws: AppLaunchError.self) {
            try launcher.launch(todoManifest, variables: [:]) { _ in }
        }
        #expect(failure?.description == "/opt/todo: No such file or directory")
    }
}
