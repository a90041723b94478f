import Synchronization

/// Something that happens again and again. Handlers are called in the order in which they subscribed, on a queue of the
/// library's.
public final class ConnectedDevicesEvent<Value: Sendable>: Sendable {
    private struct State {
        var last = 0
        var handlers: [Int: @Sendable (Value) -> Void] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Has a handler called from now on.
    @discardableResult public func subscribe(_ handler: @escaping @Sendable (Value) -> Void) -> EventSubscription {
        let number = state.withLock { state in
            state.last += 1
            state.handlers[state.last] = handler
            return state.last
        }
        return EventSubscription { [weak self] in self?.state.withLock { _ = $0.handlers.removeValue(forKey: number) } }
    }

    func fire(_ value: Value) {
        for handler in state.withLock({ $0.handlers.sorted { $0.key < $1.key }.map(\.value) }) { handler(value) }
    }

    var hasHandler: Bool { state.withLock { !$0.handlers.isEmpty } }
}

/// The subscription of a handler to an event.
public final class EventSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// The handler is not called any more.
    public func cancel() { end() }
}
