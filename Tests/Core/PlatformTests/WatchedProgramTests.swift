import AldabaTestSupport
import Foundation
import Testing

@testable import Platform

/// Programs that may not be trusted, each a shell script here.
@Suite(.timeLimit(.minutes(5))) struct WatchedProgramTests {
    private let folder: TemporaryFolder
    private let happenings = Inbox<WatchedProgram.Event>()

    init() throws { folder = try TemporaryFolder() }

    private func start(_ script: String, memoryLimit: Int64 = 24 << 20) throws -> WatchedProgram {
        let log = try ProgramLog.open(folder: folder.path("log"), name: "program")
        defer { close(log) }
        let shell = ChildProgram(
            path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"])
        return try WatchedProgram.start(
            shell, name: "test", output: log, memoryLimit: memoryLimit, events: { [happenings] in happenings.put($0) })
    }

    private var log: String { (try? String(contentsOfFile: folder.path("log/program.log"), encoding: .utf8)) ?? "" }

    @Test func `it gains no rights by what it runs, and this process keeps its own`() async throws {
        _ = try start("grep NoNewPrivs /proc/self/status; exit 3")
        #expect(await happenings.next() == .ended(.exited(3)))
        #expect(log == "NoNewPrivs:\t1\n")
        let own = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        #expect(own.contains("NoNewPrivs:\t0"))
    }

    @Test func `it is killed with what it started`() async throws {
        let fifo = folder.path("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        // Open for as long as somebody may write: the end of the stream says that both have ended.
        let program = try start("exec 3>\(fifo); echo began >&3; sleep 600 & sleep 600")
        let reader = try #require(FileHandle(forReadingAtPath: fifo))
        #expect(try reader.read(upToCount: 6) == Data("began\n".utf8))
        program.kill()
        #expect(await happenings.next() == .ended(.signalled(SIGKILL)))
        #expect(try reader.readToEnd() ?? Data() == Data())
    }

    @Test func `what it left running is killed when it has ended`() async throws {
        let fifo = folder.path("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        _ = try start("exec 3>\(fifo); echo began >&3; sleep 600 & exit 0")
        let reader = try #require(FileHandle(forReadingAtPath: fifo))
        #expect(try reader.readToEnd() == Data("began\n".utf8))
        #expect(await happenings.next() == .ended(.exited(0)))
    }

    @Test(arguments: ["tail", "sh -c tail; true"])
    func `memory of its own beyond the limit is told once, also that of what it started`(command: String) async throws {
        // What has no line is kept whole.
        let program = try start("head -c 60000000 /dev/zero | cat - /dev/zero | \(command)")
        guard case .grewTooLarge(let bytes)? = await happenings.next() else {
            Issue.record("nothing was told")
            return
        }
        #expect(bytes > 24 << 20)
        program.kill()
        #expect(await happenings.next() == .ended(.signalled(SIGKILL)))
    }

    @Test func `a program that is not there is thrown`() {
        let nothing = ChildProgram(path: "/nowhere/program", arguments: [], environment: [:])
        let failure = #expect(throws: MachineError.self) {
            try WatchedProgram.start(nothing, name: "test", output: -1, memoryLimit: 1, events: { _ in })
        }
        #expect(failure?.what == "/nowhere/program")
    }

    @Test(
        arguments: [
            ("Name:\tx\nRssAnon:\t    1532 kB\nRssFile:\t 4 kB\n", 1532 << 10), ("RssAnon:\t0 kB", 0),
            ("Name:\tRssAnon: 5\n", nil), ("RssAnon:", nil), ("RssAnon:\tmuch kB\n", nil), ("RssAnon:\t-4 kB\n", nil),
            ("RssAnon:\t9223372036854775807 kB\n", nil), ("", nil),
        ] as [(String, Int64?)])
    func `the kernel's words are read`(text: String, bytes: Int64?) {
        #expect(AnonymousMemory.bytes(inStatus: Data(text.utf8)) == bytes)
    }
}
