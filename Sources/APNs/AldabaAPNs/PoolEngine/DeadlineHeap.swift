/// Deadlines by number, the earliest first. A removed number's deadline stays until it is found or the heap is rebuilt.
struct DeadlineHeap: Sendable {
    private struct Entry: Sendable {
        var deadline: PoolInstant
        var number: Int
    }

    private var entries: [Entry] = []
    /// The number of entries at which those of removed numbers are dropped.
    private var rebuildCount = 64

    /// Adds a deadline.
    ///
    /// - Parameter isLive: Whether a number's deadline still counts.
    mutating func insert(_ number: Int, at deadline: PoolInstant, isLive: (Int) -> Bool) {
        if entries.count >= rebuildCount {
            let live = entries.filter { isLive($0.number) }
            entries = []
            for entry in live { append(entry) }
            rebuildCount = max(64, 2 * live.count)
        }
        append(Entry(deadline: deadline, number: number))
    }

    /// The earliest deadline that counts.
    mutating func first(isLive: (Int) -> Bool) -> PoolInstant? {
        while let top = entries.first {
            if isLive(top.number) { return top.deadline }
            removeFirst()
        }
        return nil
    }

    /// Removes the earliest deadline that counts, if it has come.
    mutating func popDue(at now: PoolInstant, isLive: (Int) -> Bool) -> Int? {
        guard let deadline = first(isLive: isLive), deadline <= now, let top = entries.first else { return nil }
        removeFirst()
        return top.number
    }

    private mutating func append(_ entry: Entry) {
        var child = entries.count
        entries.append(entry)
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].deadline < entries[parent].deadline else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].deadline < entries[least].deadline {
                least = child
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
