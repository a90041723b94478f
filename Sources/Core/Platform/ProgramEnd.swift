import Glibc

/// The end of a program.
package enum ProgramEnd: Hashable, Sendable, CustomStringConvertible {
    /// The program ended by itself, with this status.
    case exited(Int32)
    /// The program was ended by this signal (signal(7)).
    case signalled(Int32)

    /// The text `exit code N` or `signal N`.
    package var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .signalled(let signal): "signal \(signal)"
        }
    }
}

extension ChildProgram {
    /// Waits until a process has ended, and keeps its id reserved: a later ``reap(_:)`` is required.
    package static func waitForEnd(of pid: pid_t) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
    }

    /// Whether a process has ended; its id stays reserved until ``reap(_:)``.
    package static func hasEnded(_ pid: pid_t) -> Bool {
        var information = siginfo_t()
        guard waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | WNOHANG) == 0 else { return errno != EINTR }
        return information.si_signo != 0
    }

    /// Waits until a process has ended, and releases its id.
    package static func reap(_ pid: pid_t) -> ProgramEnd {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1, errno == EINTR {}
        // The low seven bits are the signal, the next byte is the exit status.
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }
}
