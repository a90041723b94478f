import Foundation
import Glibc
import Synchronization

/// A running child: its own process group, its standard input held open by this process alone, so that a child
/// that watches it ends when this process ends, however that happens. What a child starts in its turn and gives
/// the same standard input outlives that child, and ends with this process too.
public final class ChildProcess: Sendable {
    /// What to start and where its output goes.
    public struct Plan: Sendable {
        /// An absolute path.
        public var executable: String
        public var arguments: [String]
        public var environment: [String: String]
        /// Gets standard error, and standard output too unless `line` is set.
        public var log: BoundedLogFile
        /// Gets each line of standard output, in order, on a thread of its own.
        public var line: (@Sendable (String) -> Void)?

        /// Makes a plan; nothing is started.
        public init(
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

    /// How a child ended.
    public enum End: Sendable, Equatable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)

        /// `exit code N` or `signal N`.
        public var description: String {
            switch self {
            case .exited(let code): "exit code \(code)"
            case .signalled(let signal): "signal \(signal)"
            }
        }
    }

    /// A child that was just started, and this process's ends of its pipes.
    private struct Started {
        var process: pid_t
        var output: Int32
        var errors: Int32
    }

    /// One start at a time: a child born between the making of another's pipe and its marking as not to be
    /// inherited would hold that pipe open.
    private static let starting = Mutex(())
    /// Every child's standard input: a pipe into which nothing is written, and which the end of this process closes.
    private static let lifeline = Result { () throws(PrivateFile.Failure) in try pipe("children") }

    private enum Waiting {
        case running([CheckedContinuation<End, Never>])
        case ended(End)
    }

    /// The process id.
    public let identifier: pid_t
    private let state = Mutex(Waiting.running([]))

    /// Starts a child.
    ///
    /// - Throws: what the system says when it cannot be started.
    public init(_ plan: Plan) throws(PrivateFile.Failure) {
        let started = try Self.start(plan)
        let process = started.process
        identifier = process
        Self.pump(started.errors) { plan.log.append($0) }
        if let line = plan.line {
            let splitter = Mutex(LineSplitter())
            Self.pump(started.output) { bytes in splitter.withLock { $0.append(bytes) }.forEach(line) }
        } else {
            Self.pump(started.output) { plan.log.append($0) }
        }
        Thread.detachNewThread { self.finish(Self.wait(for: process)) }
    }

    /// Waits until the child has ended; its id is free for others from then on.
    public func end() async -> End {
        await withCheckedContinuation { continuation in
            let ended: End? = state.withLock { state in
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
    public func signal(_ number: Int32) {
        state.withLock { state in
            if case .running = state { kill(identifier, number) }
        }
    }

    /// Asks the child to end (SIGTERM), and ends it (SIGKILL) when it has not after the grace.
    public func stop(grace: Duration) async {
        signal(SIGTERM)
        let killer = Task {
            try await Task.sleep(for: grace)
            signal(SIGKILL)
        }
        _ = await end()
        killer.cancel()
    }

    private func finish(_ end: End) {
        let waiting = state.withLock { state -> [CheckedContinuation<End, Never>] in
            guard case .running(let waiting) = state else { return [] }
            state = .ended(end)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: end) }
    }
}

extension ChildProcess {
    private static func start(_ plan: Plan) throws(PrivateFile.Failure) -> Started {
        try starting.withLock { (_) throws(PrivateFile.Failure) in
            let input = try lifeline.get()
            let output = try pipe(plan.executable)
            let errors = try pipe(plan.executable)
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, input.read, 0)
            posix_spawn_file_actions_adddup2(&actions, output.write, 1)
            posix_spawn_file_actions_adddup2(&actions, errors.write, 2)
            var process: pid_t = 0
            let code = spawn(&process, plan, &actions)
            for descriptor in [output.write, errors.write] { close(descriptor) }
            guard code == 0 else {
                for descriptor in [output.read, errors.read] { close(descriptor) }
                throw PrivateFile.Failure(action: "start", path: plan.executable, code: code)
            }
            return Started(process: process, output: output.read, errors: errors.read)
        }
    }

    private static func pipe(_ path: String) throws(PrivateFile.Failure) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else {
            throw PrivateFile.Failure(action: "start", path: path, code: errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Starts the child in a process group of its own, with no signal blocked or ignored.
    private static func spawn(
        _ process: inout pid_t, _ plan: Plan, _ actions: inout posix_spawn_file_actions_t
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var arguments: [UnsafeMutablePointer<CChar>?] = ([plan.executable] + plan.arguments).map { strdup($0) }
        var environment: [UnsafeMutablePointer<CChar>?] = plan.environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for text in arguments + environment { free(text) } }
        arguments.append(nil)
        environment.append(nil)
        return posix_spawn(&process, plan.executable, &actions, &attributes, arguments, environment)
    }

    private static func wait(for process: pid_t) -> End {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    /// Reads a pipe to its end on a thread of its own.
    private static func pump(_ descriptor: Int32, _ take: @escaping @Sendable (ArraySlice<UInt8>) -> Void) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                if count > 0 { take(buffer[..<count]) } else if count == 0 || errno != EINTR { break }
            }
            close(descriptor)
        }
    }
}
