import PushCore
import Synchronization

/// A clock that a test moves.
package final class ManualClock: Sendable {
    private let instant: Mutex<Timestamp>

    /// Begins at 2026-06-01 unless told otherwise.
    package init(_ start: Timestamp = Timestamp(seconds: 1_780_272_000)) { instant = Mutex(start) }

    package var now: Timestamp { instant.withLock { $0 } }

    package func advance(milliseconds: Int64) {
        instant.withLock { $0 = $0.adding(milliseconds: milliseconds) }
    }

    /// The clock as a function, which is how it is passed in.
    package var function: @Sendable () -> Timestamp { { self.now } }
}
