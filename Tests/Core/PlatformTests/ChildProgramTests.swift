import AldabaTestSupport
import Foundation
import Testing

@testable import Platform

/// Programs that run beside the agent, each a shell script here.
@Suite(.timeLimit(.minutes(5))) struct ChildProgramTests {
    private func run(
        _ script: String, outputLimit: Int? = 1000, timeout: Duration = .seconds(600)
    ) throws -> String? {
        let shell = ChildProgram(
            path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"])
        return try shell.run(outputLimit: outputLimit, timeout: timeout).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("printf here", "here"), ("printf here; exec >&-; exit 0", "here"), ("exec >&-; exit 3", nil),
        ("printf here; exit 3", nil), ("kill -9 $$", nil), ("sleep 5 & printf here", "here"),
    ])
    func `what a program writes counts when it ends well`(script: String, output: String?) throws {
        #expect(try run(script) == output)
    }

    @Test func `a program that writes as much as it may is heard`() throws {
        #expect(try run("head -c 1000 /dev/zero")?.utf8.count == 1000)
    }

    @Test(arguments: ["head -c 1001 /dev/zero", "yes"])
    func `a program that writes more is ended at once`(script: String) throws {
        #expect(try run(script) == nil)
    }

    @Test func `a program whose output is of no use may write as it likes`() throws {
        #expect(try run("head -c 200000 /dev/zero", outputLimit: nil) == "")
    }

    @Test(arguments: ["sleep 300", "exec >&-; sleep 300"])
    func `the timeout ends a program with what it started`(script: String) throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        // What the program starts holds the pipe too; the byte says that it was started.
        let whole = "exec 3> '\(pipe)'; sleep 300 & printf x >&3; \(script)"
        var timeout = Duration.milliseconds(50)
        var end = PipeEnd.silent
        // Where the machine is slow the timeout ends before anything is started.
        while end == .silent {
            let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            #expect(try run(whole, timeout: timeout) == nil)
            end = Self.end(of: reader)
            timeout *= 2
        }
        #expect(end == .closed)
    }

    @Test(arguments: ["sleep 300", "exec >&-; sleep 300"])
    func `a program that is not wanted any more is ended with what it started`(script: String) throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let wish = try WakeUp()
        let whole = "exec 3> '\(pipe)'; sleep 300 & printf x >&3; \(script)"
        let shell = ChildProgram(path: "/bin/sh", arguments: ["-c", whole], environment: ["PATH": "/usr/bin:/bin"])
        NamedThread.begin("test-wish") {
            var watched = [pollfd(fd: reader, events: Int16(POLLIN), revents: 0)]
            _ = poll(&watched, 1, 30_000)
            wish.signal()
        }
        #expect(try shell.runToEnd(outputLimit: 1000, timeout: .seconds(600), unlessEnded: wish) == .unwanted)
        #expect(Self.end(of: reader) == .closed)
    }

    @Test func `a program that was not wanted before it began is ended`() throws {
        let wish = try WakeUp()
        wish.signal()
        let sleep = ChildProgram(path: "/bin/sleep", arguments: ["300"], environment: [:])
        #expect(try sleep.runToEnd(timeout: .seconds(600), unlessEnded: wish) == .unwanted)
    }

    private enum PipeEnd {
        /// Nobody wrote, and nobody can.
        case silent
        /// Somebody wrote, and nobody can any more.
        case closed
        /// Somebody could still write.
        case open
    }

    /// Waits until nobody holds the other end.
    private static func end(of reader: Int32) -> PipeEnd {
        var wasHeard = false
        var byte: UInt8 = 0
        while true {
            switch read(reader, &byte, 1) {
            case 1: wasHeard = true
            case 0: return wasHeard ? .closed : .silent
            default:
                var watched = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
                guard poll(&watched, 1, 30_000) > 0 else { return .open }
            }
        }
    }

    @Test(arguments: [("exit 3", ProgramEnd.exited(3)), ("exit 0", .exited(0)), ("kill -9 $$", .signalled(SIGKILL))])
    func `it is told how a program ended`(script: String, end: ProgramEnd) throws {
        let pid = try ChildProgram(path: "/bin/sh", arguments: ["-c", script], environment: [:]).start()
        ChildProgram.waitForEnd(of: pid)
        #expect(kill(pid, 0) == 0, "its number is its own until somebody reaps it")
        #expect(ChildProgram.reap(pid) == end)
    }

    @Test func `a program that is not there is told of with its path`() {
        let failure = MachineError(what: "/nonexistent/program", reason: "No such file or directory")
        #expect(throws: failure) {
            try ChildProgram(path: "/nonexistent/program", arguments: [], environment: [:]).start()
        }
    }

    @Test func `a program is found by the folders, the first one first`() throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        for path in [first.path("a"), second.path("a"), second.path("b")] {
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o700]))
        }
        #expect(FileManager.default.createFile(atPath: first.path("b"), contents: nil))
        func find(_ name: String) -> String? {
            ChildProgram.find(name, environment: ["PATH": "\(first.url.path):\(second.url.path)"])
        }
        #expect(find("a") == first.path("a") && find("b") == second.path("b") && find("c") == nil)
        #expect(find(second.path("a")) == second.path("a") && find(first.path("b")) == nil)
    }
}
