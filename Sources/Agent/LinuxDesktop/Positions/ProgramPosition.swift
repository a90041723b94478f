import AgentEngine
import Foundation
import Platform
import Synchronization

/// The machine's position from a program: every line that it prints is a position (see
/// `Docs/notification-centre-reference.md`).
///
/// It is run by `/bin/sh -c` while a request waits for a place, without the agent's own settings in its environment.
/// When it has ended, it is started again after 1 s, 2 s, … 60 s; one that ran for a minute after 1 s again. It is
/// killed with all processes that it started when no request waits any more, and at the agent's end, even when the
/// agent is killed. Its standard input is empty.
package final class ProgramPosition: PositionSource {
    /// Not its command, which may hold a secret.
    package let name = "the program of the setting position"
    private let thread: PositionThread
    private let running = RunningProgram()

    /// Runs what it is given, and kills that with all that it started when its standard input ends: the agent has the
    /// other end, also when it is killed itself.
    private static let guarded = """
        exec 3<&0 </dev/null
        { read -r _ <&3; kill -9 0; } >/dev/null 2>&1 &
        exec 3<&-
        exec /bin/sh -c "$1"
        """

    /// Creates a source, which runs nothing before ``start(events:)``.
    ///
    /// - Parameters:
    ///   - command: The shell's command line.
    ///   - environment: The agent's environment.
    package init(command: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let program = ChildProgram(
            path: "/bin/sh", arguments: ["-c", Self.guarded, "sh", command],
            environment: environment.filter { !$0.key.hasPrefix("ALDABA_") })
        thread = PositionThread(name: "aldaba-place") { [running] in
            ProgramWork(program: program, running: running, teller: $0)
        }
    }

    /// Begins on a thread of its own, which starts the program; may be called again after ``rest()``.
    package func start(events: @escaping @Sendable (PositionEvent) -> Void) { thread.start(events: events) }

    /// Kills the program with all that it started.
    package func rest() {
        thread.rest()
        running.kill()
    }

    /// Kills the program with all that it started, and ends the thread.
    package func stop() {
        thread.stop()
        // The process may end before the thread runs again.
        running.stop()
    }
}

/// The program that runs, which any thread may kill.
final class RunningProgram: Sendable {
    private struct State {
        var process: pid_t?
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Starts a program, unless the source was stopped. The lock is held until the process id is stored, so that no
    /// kill comes between.
    ///
    /// - Returns: Whether it was started.
    func begin(_ start: () throws(MachineError) -> pid_t) throws(MachineError) -> Bool {
        try state.withLock { state throws(MachineError) in
            guard !state.isStopped else { return false }
            state.process = try start()
            return true
        }
    }

    /// Kills the program and everything in its session; nothing happens when none runs.
    func kill() { state.withLock { Self.kill($0.process) } }

    /// Kills the program, and prevents further starts.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            Self.kill(state.process)
        }
    }

    private static func kill(_ process: pid_t?) {
        if let process { _ = Glibc.kill(-process, SIGKILL) }
    }

    /// Kills the rest of its session, and waits for the program's end.
    ///
    /// - Returns: The program's end; with status 0 when none ran.
    func end() -> ProgramEnd {
        kill()
        guard let pid = state.withLock({ $0.process }) else { return .exited(0) }
        ChildProgram.waitForEnd(of: pid)
        // The process id can be reused as soon as it is free, so it must not be used to kill meanwhile.
        return state.withLock { state in
            state.process = nil
            return ChildProgram.reap(pid)
        }
    }
}

/// The thread's own: starts the program and reads what it prints.
private final class ProgramWork: PositionWork {
    /// How long a program must run for its end to be its first.
    private static let longRun = Duration.seconds(60)

    private static let name = "the program of the setting position"

    private let program: ChildProgram
    private let running: RunningProgram
    private let teller: PositionReporter
    private var output: Int32 = -1
    /// Open for as long as the program may run.
    private var life: Int32 = -1
    private var buffer = LineBuffer()
    private var began = ContinuousClock.now
    private var backOff = BackOff()
    private var nextStart: ContinuousClock.Instant? = .now
    private var hasTold = false

    init(program: ChildProgram, running: RunningProgram, teller: PositionReporter) {
        self.program = program
        self.running = running
        self.teller = teller
    }

    var descriptors: [pollfd] { [pollfd(fd: output, events: Int16(POLLIN), revents: 0)] }
    var deadline: ContinuousClock.Instant? { nextStart }

    func work() {
        if let nextStart, nextStart <= .now { start() }
        guard output >= 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(output, &bytes, bytes.count)
        if count > 0 {
            handleLines(buffer.append(bytes.prefix(count)))
            guard buffer.isTooLong else { return }
            return teller.fail(
                "\(Self.name) printed a line that is longer than \(PositionLine.longest) bytes: \(PositionLine.form)")
        }
        guard count == 0 || (errno != EAGAIN && errno != EINTR) else { return }
        handleLines(buffer.finish().map { [$0] } ?? [])
        scheduleRestart(after: finish())
    }

    func end() { if output >= 0 { _ = finish() } }

    private func start() {
        nextStart = nil
        do throws(MachineError) {
            var lines = try PipeEnds()
            defer { lines.close() }
            var lifeline = try PipeEnds()
            defer { lifeline.close() }
            // Only our end must not wait: the program's is another file.
            _ = fcntl(lines.reading, F_SETFL, O_NONBLOCK)
            let isBegun = try running.begin { () throws(MachineError) in
                try program.start(input: lifeline.reading, output: lines.writing)
            }
            guard isBegun else { return }
            (output, life) = (lines.giveReading(), lifeline.giveWriting())
            (buffer, began, hasTold) = (LineBuffer(), .now, false)
        } catch {
            nextStart = backOff.deadline()
            teller.fail(error.description)
        }
    }

    /// Handles lines that arrived together: the last one counts.
    private func handleLines(_ lines: [[UInt8]]) {
        guard let last = lines.last(where: { !$0.allSatisfy(PositionLine.isSpace) }) else { return }
        let read = PositionLine.read(last)
        if case .success = read { hasTold = true }
        teller.report(read, of: "what \(Self.name) printed")
    }

    private func finish() -> ProgramEnd {
        close(output)
        output = -1
        defer {
            close(life)
            life = -1
        }
        return running.end()
    }

    private func scheduleRestart(after end: ProgramEnd) {
        if ContinuousClock.now - began >= Self.longRun { backOff.reset() }
        nextStart = backOff.deadline()
        let name = Self.name
        switch end {
        case .exited(0) where hasTold: break
        case .exited(0): teller.fail("\(name) ended without printing a position: \(PositionLine.form)")
        case .exited(127): teller.fail("the shell does not find \(name)")
        case .exited(let code): teller.fail("\(name) ended with status \(code)")
        case .signalled(let signal): teller.fail("\(name) was ended by signal \(signal), or has closed its output")
        }
    }
}
