import AldabaConfiguration
import Foundation
import Glibc
import Platform
import Synchronization

/// A running child process.
///
/// It leads a session of its own. This process alone holds its standard input open, so a child that watches it
/// ends when this process ends, however that happens. A program that the child starts with the same standard input may
/// outlive the child, and ends with this process too.
package final class ChildProcess: Sendable {
    /// The program to start, and the files of its output.
    package struct Plan: Sendable {
        /// An absolute path.
        package var executable: String
        /// The arguments, without the program's name.
        package var arguments: [String]
        /// The child's whole environment.
        package var environment: [String: String]
        /// Gets standard error, and standard output too unless `line` is set.
        package var log: BoundedLogFile
        /// Gets each line of standard output, in order, on a thread of its own.
        package var line: (@Sendable (String) -> Void)?

        /// Makes a plan; nothing is started.
        package init(
            executable: String, arguments: [String], environment: [String: String], log: BoundedLogFile,
            line: (@Sendable (String) -> Void)? = nil
        ) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
            self.log = log
            self.line = line
        }
    }

    /// A child that was just started, and this process's ends of its pipes.
    private struct Started {
        var process: pid_t
        var output: Int32
        var errors: Int32
    }

    /// Every child's standard input: a pipe into which nothing is written, and which the end of this process closes.
    private static let lifeline = Result { () throws(MachineError) in try PipeEnds() }

    private enum Waiting {
        case running([CheckedContinuation<ProgramEnd, Never>])
        case ended(ProgramEnd)
    }

    /// The process id.
    package let identifier: pid_t
    private let state = Mutex(Waiting.running([]))

    /// Starts a child.
    ///
    /// - Throws: ``PrivateFile/Failure`` with the system's error when it cannot be started.
    package init(_ plan: Plan) throws(PrivateFile.Failure) {
        let started: Started
        do {
            started = try Self.start(plan)
        } catch {
            throw PrivateFile.Failure(action: "start", path: plan.executable, reason: error.reason)
        }
        let process = started.process
        identifier = process
        Self.pump(started.errors) { plan.log.append($0) }
        if let line = plan.line {
            let splitter = Mutex(LineSplitter())
            Self.pump(started.output) { bytes in splitter.withLock { $0.append(bytes) }.forEach(line) }
        } else {
            Self.pump(started.output) { plan.log.append($0) }
        }
        NamedThread.begin("aldaba-child", stackSize: 128 << 10) { self.finish(ChildProgram.reap(process)) }
    }

    /// Waits until the child has ended; its id is free for others from then on.
    package func end() async -> ProgramEnd {
        await withCheckedContinuation { continuation in
            let ended: ProgramEnd? = state.withLock { state in
                switch state {
                case .ended(let end): return end
                case .running(let waiting):
                    state = .running(waiting + [continuation])
                    return nil
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    /// Sends a signal, unless the child has ended.
    package func signal(_ number: Int32) {
        state.withLock { state in
            if case .running = state { kill(identifier, number) }
        }
    }

    /// Asks the child to end (SIGTERM), and ends it (SIGKILL) when it has not after the grace.
    package func stop(grace: Duration) async {
        signal(SIGTERM)
        let killer = Task {
            try await Task.sleep(for: grace)
            signal(SIGKILL)
        }
        _ = await end()
        killer.cancel()
    }

    private func finish(_ end: ProgramEnd) {
        let waiting = state.withLock { state -> [CheckedContinuation<ProgramEnd, Never>] in
            guard case .running(let waiting) = state else { return [] }
            state = .ended(end)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: end) }
    }
}

extension ChildProcess {
    private static func start(_ plan: Plan) throws(MachineError) -> Started {
        let input = try lifeline.get()
        var output = try PipeEnds()
        defer { output.close() }
        var errors = try PipeEnds()
        defer { errors.close() }
        let program = ChildProgram(
            path: plan.executable, arguments: plan.arguments, environment: plan.environment)
        let process = try program.start(input: input.reading, output: output.writing, errors: errors.writing)
        return Started(process: process, output: output.giveReading(), errors: errors.giveReading())
    }

    /// Reads a pipe to its end on a thread of its own.
    private static func pump(_ descriptor: Int32, _ take: @escaping @Sendable (ArraySlice<UInt8>) -> Void) {
        NamedThread.begin("aldaba-output") {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                if count > 0 { take(buffer[..<count]) } else if count == 0 || errno != EINTR { break }
            }
            close(descriptor)
        }
    }
}
