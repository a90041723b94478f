import CLinux
import Foundation

/// A program that runs as a child process.
///
/// Guarantees: it inherits only the descriptors that are passed to it, and no signal that this process blocks or
/// ignores. It leads a session of its own, so that it can be ended with all processes that it started.
package struct ChildProgram: Sendable {
    /// The absolute path.
    package var path: String
    /// The arguments after its name.
    package var arguments: [String]
    /// The environment variables: it inherits none.
    package var environment: [String: String]

    /// Creates a program without starting it; ``start(input:output:errors:further:)`` and ``run(input:outputLimit:timeout:)``
    /// start it.
    package init(path: String, arguments: [String], environment: [String: String]) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
    }

    /// Starts it; a negative descriptor means none.
    ///
    /// - Parameter further: A descriptor that it gets as descriptor 3.
    /// - Returns: The process id, for which the caller must call ``reap(_:)``.
    package func start(
        input: Int32 = -1, output: Int32 = -1, errors: Int32 = -1, further: Int32 = -1
    ) throws(MachineError) -> pid_t {
        try spawn(input: input, output: output, errors: errors, further: further, isDetached: true)
    }

    /// Starts it in this process's session, with the same standard input, output and errors.
    ///
    /// - Parameter further: A descriptor that it gets as descriptor 3; a negative one means none.
    /// - Returns: The process id, for which the caller must call ``reap(_:)``.
    package func startBeside(further: Int32 = -1) throws(MachineError) -> pid_t {
        try spawn(
            input: STDIN_FILENO, output: STDOUT_FILENO, errors: STDERR_FILENO, further: further, isDetached: false)
    }

    private func spawn(
        input: Int32, output: Int32, errors: Int32, further: Int32, isDetached: Bool
    ) throws(MachineError) -> pid_t {
        var pid: pid_t = 0
        let failure = withCStrings([path] + arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                aldaba_spawn(
                    &pid, path, input, output, errors, further, isDetached ? 1 : 0, arguments, environment)
            }
        }
        guard failure == 0 else { throw MachineError(what: path, code: failure) }
        return pid
    }

    /// Finds the first program with a name in the folders of `PATH`; a name with a slash is a path (execvp(3)).
    package static func find(_ name: String, environment: [String: String]) -> String? {
        func isProgram(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }
        if name.contains("/") { return isProgram(name) ? name : nil }
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.lazy.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    /// Runs it to its end. Beyond its output's limit or the timeout it is killed, with all processes that it started.
    ///
    /// - Parameters:
    ///   - input: The bytes of its standard input; at most ``inputLimit``.
    ///   - outputLimit: The maximum size of its output in bytes; `nil` for a program whose output is not needed.
    /// - Returns: The output; `nil` when it did not end by itself with status 0.
    package func run(input: Data? = nil, outputLimit: Int? = nil, timeout: Duration) throws(MachineError) -> Data? {
        let run = try runToEnd(input: input, outputLimit: outputLimit, timeout: timeout)
        if case .wrote(let bytes) = run { return bytes } else { return nil }
    }

    /// The end of a program's run.
    package enum Run: Hashable, Sendable {
        /// The program ended by itself with status 0; the value is its output.
        case wrote(Data)
        /// The program ended otherwise, after this output.
        case failed(ProgramEnd, output: Data)
        /// The program was killed, since its output exceeded the limit.
        case wroteTooMuch
        /// The program was killed, since it exceeded the timeout.
        case tookTooLong
        /// The program was killed, since the caller cancelled it.
        case unwanted
    }

    /// Runs it as ``run(input:outputLimit:timeout:)`` does, and returns how it ended.
    ///
    /// - Parameter wish: A signal, from any thread and at any time, that kills the program with all processes that it
    ///   started.
    package func runToEnd(
        input: Data? = nil, outputLimit: Int? = nil, timeout: Duration, unlessEnded wish: WakeUp? = nil
    ) throws(MachineError) -> Run {
        var output = try PipeEnds()
        defer { output.close() }
        var end = try PipeEnds()
        defer { end.close() }
        let given = try input.map(Self.pipe)
        defer { if let given { close(given) } }
        let pid = try start(input: given ?? -1, output: outputLimit == nil ? -1 : output.writing)
        output.closeWriting()
        Self.watch(pid, closing: end.giveWriting())
        let run = follow(
            output.reading, end: end.reading, wish: wish?.descriptor ?? -1, limit: outputLimit ?? 0,
            until: .now + timeout)
        guard case .wrote(let written) = run else {
            kill(-pid, SIGKILL)
            _ = Self.isReadable(end.reading, until: nil)
            _ = Self.reap(pid)
            return run
        }
        let status = Self.reap(pid)
        return status == .exited(0) ? run : .failed(status, output: written)
    }

    /// The capacity of an empty pipe on Linux, in bytes (pipe(7)).
    static let inputLimit = 65_536

    /// Creates a pipe that contains these bytes and then ends.
    private static func pipe(_ bytes: Data) throws(MachineError) -> Int32 {
        var ends = try PipeEnds()
        let written = bytes.withUnsafeBytes { write(ends.writing, $0.baseAddress, min($0.count, inputLimit)) }
        guard written == bytes.count else {
            ends.close()
            throw MachineError(what: "a pipe", reason: "\(bytes.count) bytes do not fit into it")
        }
        ends.closeWriting()
        return ends.giveReading()
    }

    /// Closes a descriptor when a process has ended; the process is not reaped, so its id stays reserved until then.
    private static func watch(_ pid: pid_t, closing descriptor: Int32) {
        NamedThread.begin("aldaba-child", stackSize: 128 << 10) {
            waitForEnd(of: pid)
            close(descriptor)
        }
    }

    /// Reads until the program has ended, is cancelled, exceeded the timeout, or wrote too much.
    private func follow(
        _ output: Int32, end: Int32, wish: Int32, limit: Int, until deadline: ContinuousClock.Instant
    ) -> Run {
        var written = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isOutputOpen = true
        while true {
            // poll(2) ignores a negative descriptor.
            var watched = [isOutputOpen ? output : -1, end, wish].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard Self.wait(for: &watched, until: deadline) else { return .tookTooLong }
            if watched[2].revents != 0 { return .unwanted }
            if watched[0].revents != 0 {
                let count = read(output, &buffer, buffer.count)
                // The output is closed while the program runs on: no more bytes arrive, and its end is awaited.
                if count == 0 { isOutputOpen = false }
                if count > 0 { written += buffer[..<count] }
                if written.count > limit { return .wroteTooMuch }
                if count > 0 { continue }
            }
            if watched[1].revents != 0 { return .wrote(written) }
        }
    }

    private static func isReadable(_ descriptor: Int32, until deadline: ContinuousClock.Instant?) -> Bool {
        var watched = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        return wait(for: &watched, until: deadline)
    }

    /// Waits until one of the descriptors is ready; returns whether that was before the deadline.
    private static func wait(for watched: inout [pollfd], until deadline: ContinuousClock.Instant?) -> Bool {
        while deadline.map({ $0 > .now }) ?? true {
            guard Pause.poll(&watched, until: deadline) else { return false }
            if watched.contains(where: { $0.revents != 0 }) { return true }
        }
        return false
    }

    private func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
        defer { copies.forEach { free($0) } }
        return copies.withUnsafeBufferPointer { buffer in
            // An array that ends with nil is never empty, so it has an address.
            withExtendedLifetime(copies) { body(buffer.baseAddress!) }
        }
    }
}
