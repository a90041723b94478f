import Glibc
import Synchronization

/// Whether a person has ended a command that stops in order. Thread-safe.
final class StopFlag: Sendable {
    private let value = Atomic(false)

    /// Whether a signal has come.
    var isSet: Bool { value.load(ordering: .relaxed) }

    /// Sets the flag at the first signal; a second one ends the process at once.
    ///
    /// - Parameter stop: Called after the flag was set.
    /// - Returns: The task that waits for the signal, for its caller to cancel.
    func watch(_ stop: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            await StopSignals.wait()
            guard !Task.isCancelled else { return }
            value.store(true, ordering: .relaxed)
            stop()
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        }
    }
}
