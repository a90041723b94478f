/// The callers that wait until fewer requests are open than the limit allows, in order of arrival.
///
/// A value without I/O: its owner suspends and resumes the callers.
struct AdmissionQueue: Sendable {
    /// The number of requests that may be open.
    let limit: Int
    /// The number of open requests: queued or in flight.
    private(set) var open = 0
    private var waiting: Set<Int> = []
    private var queue = RequestQueue()
    private var deadlines = DeadlineHeap()

    /// Creates a queue without requests.
    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of callers that wait.
    var waitingCount: Int { waiting.count }

    /// Opens a request if the limit allows it and no caller waits.
    mutating func enterNow() -> Bool {
        guard open < limit, waiting.isEmpty else { return false }
        open += 1
        return true
    }

    /// Adds a caller at the end, or admits it at once.
    ///
    /// - Returns: Whether it was admitted.
    mutating func enter(_ caller: Int, deadline: PoolInstant) -> Bool {
        if enterNow() { return true }
        queue.append(caller) { [waiting] in waiting.contains($0) }
        deadlines.insert(caller, at: deadline) { [waiting] in waiting.contains($0) }
        self.waiting.insert(caller)
        return false
    }

    /// Ends a request.
    ///
    /// - Returns: The caller that is admitted in its place.
    mutating func leave() -> Int? {
        guard let caller = queue.first(isLive: { [waiting] in waiting.contains($0) }) else {
            open -= 1
            return nil
        }
        queue.removeFirst()
        self.waiting.remove(caller)
        return caller
    }

    /// Removes a caller that waits.
    ///
    /// - Returns: Whether it waited.
    mutating func cancel(_ caller: Int) -> Bool { waiting.remove(caller) != nil }

    /// Removes a caller whose deadline has come; `nil` where there is none.
    mutating func popDue(at now: PoolInstant) -> Int? {
        guard let caller = deadlines.popDue(at: now, isLive: { [waiting] in waiting.contains($0) }) else { return nil }
        self.waiting.remove(caller)
        return caller
    }

    /// Removes every caller that waits.
    mutating func removeAll() -> [Int] {
        defer { waiting = [] }
        return waiting.sorted()
    }

    /// The earliest deadline of a caller that waits.
    var nextDeadline: PoolInstant? {
        mutating get {
            return deadlines.first { [waiting] in waiting.contains($0) }
        }
    }
}
