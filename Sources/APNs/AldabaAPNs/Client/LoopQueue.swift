import NIOCore
import Synchronization

/// Passes elements from any thread to an event loop, in their order, many by one hop. Thread-safe.
///
/// The number of elements is bounded by that of open requests, and of events of connections that have open requests.
final class LoopQueue<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let eventLoop: any EventLoop
    private let handle: @Sendable (Element) -> Void

    /// Creates a queue.
    ///
    /// - Parameter handle: Called on the event loop.
    init(eventLoop: any EventLoop, _ handle: @escaping @Sendable (Element) -> Void) {
        self.eventLoop = eventLoop
        self.handle = handle
    }

    /// Passes an element on; at once where the caller is on the event loop and no other one waits.
    func add(_ element: Element) {
        let isOnLoop = eventLoop.inEventLoop
        let count = elements.withLock { elements in
            if isOnLoop, elements.isEmpty { return 0 }
            elements.append(element)
            return elements.count
        }
        switch count {
        case 0: handle(element)
        case 1: eventLoop.execute { [self] in drain() }
        default: break
        }
    }

    private func drain() {
        let batch = elements.withLock { elements in
            defer { elements = [] }
            return elements
        }
        for element in batch { handle(element) }
    }
}
