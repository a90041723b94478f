import CLinux
import Foundation

/// A program that runs beside the agent.
///
/// Guarantees: it inherits no descriptor but those that it is given, and no signal that the agent blocks or ignores; it
/// leads a session of its own, so that it can be ended with everything that it started.
struct ChildProgram: Sendable {
    /// Absolute.
    var path: String
    var arguments: [String]
    var environment: [String: String]

    /// Starts it; a descriptor that is negative stands for none.
    ///
    /// - Returns: Its process id, which somebody must wait for.
    func start(input: Int32 = -1, output: Int32 = -1, errors: Int32 = -1) throws(AppLaunchFailure) -> pid_t {
        var pid: pid_t = 0
        let failure = withCStrings([path] + arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                aldaba_spawn_detached(&pid, path, input, output, errors, arguments, environment)
            }
        }
        guard failure == 0 else {
            throw AppLaunchFailure(description: "\(path): \(String(cString: strerror(failure)))")
        }
        return pid
    }

    /// Runs it to its end, or to its output's limit or the end of the patience, where it is killed.
    ///
    /// - Returns: What it wrote; `nil` when it did not end by itself with status 0.
    func run(outputLimit: Int = 0, patience: Duration) throws(AppLaunchFailure) -> Data? {
        var pipes: [Int32] = [-1, -1]
        guard aldaba_pipe(&pipes) == 0 else {
            throw AppLaunchFailure(description: "no pipe: \(String(cString: strerror(errno)))")
        }
        defer { close(pipes[0]) }
        let pid: pid_t
        do throws(AppLaunchFailure) {
            pid = try start(output: pipes[1])
            close(pipes[1])
        } catch {
            close(pipes[1])
            throw error
        }
        let ended = aldaba_process_open(pid)
        defer { if ended >= 0 { close(ended) } }
        let output = follow(pipes[0], ended, limit: outputLimit, until: .now + patience)
        if output == nil { kill(-pid, SIGKILL) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1, errno == EINTR {}
        return status == 0 ? output : nil
    }

    /// Reads until the program has ended; `nil` when it did not in time.
    private func follow(
        _ pipe: Int32, _ ended: Int32, limit: Int, until deadline: ContinuousClock.Instant
    ) -> Data? {
        var output = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var watched = [
                pollfd(fd: output.count < limit ? pipe : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ended, events: Int16(POLLIN), revents: 0),
            ]
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero, poll(&watched, 2, Int32(clamping: rest.milliseconds + 1)) >= 0 || errno == EINTR else {
                return nil
            }
            if watched[0].revents != 0 {
                let count = read(pipe, &buffer, min(buffer.count, limit - output.count))
                if count > 0 { output += buffer[..<count] }
                // Closed while the program goes on: nothing more comes, and its end is waited for.
                if count == 0, watched[1].revents == 0 { return waits(for: ended, until: deadline) ? output : nil }
                if count > 0 { continue }
            }
            if watched[1].revents != 0 { return output }
        }
    }

    private func waits(for ended: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        var watched = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else { return false }
            if poll(&watched, 1, Int32(clamping: rest.milliseconds + 1)) > 0 { return true }
        }
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
