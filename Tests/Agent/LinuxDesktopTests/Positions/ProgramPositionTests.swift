import AgentEngine
import AldabaTestSupport
import Foundation
import Platform
import Testing

@testable import LinuxDesktop

@Suite(.timeLimit(.minutes(5)))
struct ProgramPositionTests {
    private func source(_ command: String) -> ProgramPosition {
        ProgramPosition(
            command: command, environment: ["PATH": "/usr/bin:/bin", "ALDABA_ENROLMENT_KEY": "secret", "PLACE": "1 2"])
    }

    @Test func `what it prints are positions, with the agent's environment but its settings`() async throws {
        let source = source(#"echo "$PLACE"; read -r _; "#)
        var heard = Listener(source)
        #expect(await heard.position() == Position(1, 2))
        source.stop()
        let other = self.source(#"echo "${ALDABA_ENROLMENT_KEY:-3} 4"; exec sleep 1000"#)
        heard = Listener(other)
        #expect(await heard.position() == Position(3, 4))
        other.stop()
    }

    @Test(arguments: [
        ("exit 3", "ended with status 3"), ("/nonexistent/program", "does not find"), ("true", "without printing"),
        ("echo nonsense; exec sleep 1000", "is not LATITUDE"), ("kill -9 $$", "by signal 9"),
        ("exec head -c 10000 /dev/zero", "longer than 256"),
    ])
    func `what is wrong with it is said`(command: String, words: String) async throws {
        let source = source(command)
        var heard = Listener(source)
        #expect(await heard.fault().contains(words))
        source.stop()
    }

    @Test func `one that ends is started again after a while`() async throws {
        let folder = try TemporaryFolder()
        // A second run finds what the first left.
        let source = source("cd \(folder.url.path) && if mkdir ran 2>/dev/null; then printf '1 1'; else echo 2 2; fi")
        var heard = Listener(source)
        #expect(await heard.position() == Position(1, 1))
        #expect(await heard.position() == Position(2, 2))
        source.stop()
    }

    @Test(arguments: [true, false])
    func `it ends with all that it started`(byRest: Bool) async throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        // The pipe ends when nobody has it open any more.
        let source = source("exec 3<>\(folder.path("pipe")) 4>\(folder.path("pipe")); sleep 1000 & echo 1 2; wait")
        var heard = Listener(source)
        #expect(await heard.position() == Position(1, 2))
        let pipe = open(folder.path("pipe"), O_RDONLY)
        defer { close(pipe) }
        if byRest { source.rest() } else { source.stop() }
        var byte: UInt8 = 0
        #expect(read(pipe, &byte, 1) == 0)
        source.stop()
    }

    @Test func `one that prints without end is told of ten times a second at most`() async throws {
        let source = source("exec yes '1 2'")
        let begin = ContinuousClock.now
        var heard = Listener(source)
        for _ in 0..<6 { #expect(await heard.position() == Position(1, 2)) }
        #expect(ContinuousClock.now - begin >= .milliseconds(500))
        source.stop()
    }

    @Test func `one that begins while all is stopped does not outlive that`() throws {
        let running = RunningProgram()
        let begins = DispatchSemaphore(value: 0)
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            begins.wait()
            running.stop()
            stopped.signal()
        }
        var process: pid_t = 0
        let hasBegun = try running.begin { () throws(MachineError) in
            begins.signal()
            process = try ChildProgram(path: "/bin/sleep", arguments: ["1000"], environment: [:]).start(output: -1)
            return process
        }
        #expect(hasBegun)
        stopped.wait()
        #expect(running.end() == .signalled(SIGKILL))
        #expect(try !running.begin { () throws(MachineError) in process }, "nothing begins any more")
    }
}
