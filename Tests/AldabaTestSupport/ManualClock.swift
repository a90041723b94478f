import PushCore
import Synchronization

/// A clock that a test moves.
public final class ManualClock: Sendable {
    private let instant: Mutex<Timestamp>

    /// Begins at 2026-06-01 unless told otherwise.
    public init(_ start: Timestamp = Timestamp(seconds: 1_780_272_000)) { instant = Mutex(start) }

    public var now: Timestamp { instant.withLock { $0 } }

    public func advance(milliseconds: Int64) {
        instant.withLock { $0 = $0.adding(milliseconds: milliseconds) }
    }

    /// The clock as a function, which is how it is passed in.
    public var function: @Sendable () -> Timestamp { { self.now } }
}
