import Synchronization

/// Why nothing can be seen now, from the thread that owns the bus connection to whoever asks.
final class ScreenFault: Sendable {
    private let value = Mutex<String?>(nil)

    /// `nil` while nothing is known to be wrong.
    var reason: String? { value.withLock { $0 } }

    func set(_ reason: String?) { value.withLock { $0 = reason } }
}
