import Synchronization

/// The reason why nothing can be shown now. The thread that owns the bus connection sets it; any thread may read it.
final class ScreenFault: Sendable {
    private let value = Mutex<String?>(nil)

    /// `nil` while nothing is known to be wrong.
    var reason: String? { value.withLock { $0 } }

    func set(_ reason: String?) { value.withLock { $0 = reason } }
}
