import Metrics
import Synchronization

/// How many streams there may be at once.
package final class StreamSlots: Sendable {
    /// How many there are.
    package let limit: Int
    private let gauge: Gauge
    private let open = Mutex(0)

    /// Places for streams.
    ///
    /// - Parameter label: The name of the metric that says how many are taken.
    package init(limit: Int, label: String) {
        self.limit = limit
        gauge = Gauge(label: label)
    }

    /// A place for one stream; `nil` when all are taken.
    package func take() -> StreamSlot? {
        let count: Int? = open.withLock { open in
            guard open < limit else { return nil }
            open += 1
            return open
        }
        guard let count else { return nil }
        gauge.record(count)
        return StreamSlot(slots: self)
    }

    fileprivate func giveBack() {
        let count = open.withLock { open in
            open -= 1
            return open
        }
        gauge.record(count)
    }
}

/// A place for one stream. It is free again when it was given back, or when nobody holds it any more.
package final class StreamSlot: Sendable {
    private let slots: StreamSlots
    private let isHeld = Mutex(true)

    fileprivate init(slots: StreamSlots) { self.slots = slots }

    deinit { giveBack() }

    /// Frees it; a second time does nothing.
    package func giveBack() {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { slots.giveBack() }
    }
}
