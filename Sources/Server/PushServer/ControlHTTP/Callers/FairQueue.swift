import NIOCore

/// Work of several callers, taken in rotation: a value without threads.
///
/// A caller with a thousand entries delays another caller's next entry by one entry, and has at most ``perCaller`` entries
/// under way at once. Every operation costs O(1), amortized. The queue holds a caller for as long as it has entries.
struct FairQueue<Caller: Hashable, Entry> {
    /// The number of entries of one caller that may be under way at once, at least 1.
    let perCaller: Int
    private var queues: [Caller: CallerQueue] = [:]
    /// Callers that have an entry which may begin, in the order in which they are served.
    private var rotation = CircularBuffer<Caller>()

    private struct CallerQueue {
        var waiting = CircularBuffer<Entry>(initialCapacity: 2)
        var underWay = 0
        var isInRotation = false
    }

    /// An empty queue.
    init(perCaller: Int) { self.perCaller = max(1, perCaller) }

    /// The number of callers with entries that wait or are under way.
    var callers: Int { queues.count }

    /// Whether an entry may begin.
    var hasNext: Bool { !rotation.isEmpty }

    /// Adds an entry behind the caller's own.
    mutating func append(_ entry: Entry, of caller: Caller) {
        var queue = queues[caller] ?? CallerQueue()
        queue.waiting.append(entry)
        queues[caller] = enteredInRotation(queue, of: caller)
    }

    /// The entry that begins next, which is under way from now on; `nil` when none may begin.
    mutating func next() -> (caller: Caller, entry: Entry)? {
        guard let caller = rotation.popFirst(), var queue = queues[caller] else { return nil }
        let entry = queue.waiting.removeFirst()
        queue.underWay += 1
        queue.isInRotation = false
        queues[caller] = enteredInRotation(queue, of: caller)
        return (caller, entry)
    }

    /// Ends one entry of a caller that was under way.
    mutating func finish(_ caller: Caller) {
        guard var queue = queues[caller] else { return }
        queue.underWay -= 1
        guard queue.underWay > 0 || !queue.waiting.isEmpty else { return queues[caller] = nil }
        queues[caller] = enteredInRotation(queue, of: caller)
    }

    /// The queue, at the end of the rotation if it has an entry that may begin.
    private mutating func enteredInRotation(_ queue: CallerQueue, of caller: Caller) -> CallerQueue {
        var queue = queue
        guard !queue.isInRotation, !queue.waiting.isEmpty, queue.underWay < perCaller else { return queue }
        rotation.append(caller)
        queue.isInRotation = true
        return queue
    }
}
