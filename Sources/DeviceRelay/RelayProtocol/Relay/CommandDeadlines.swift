import Foundation

/// When commands are to be given up, the next first. A value.
///
/// Guarantees: a step costs the logarithm of what is in it; of what has ended no more is kept than of what has not.
struct CommandDeadlines: Sendable {
    private struct Deadline {
        var moment: Int64
        var id: UUID
    }

    /// A binary heap, the earliest first.
    private var heap: [Deadline] = []

    /// The earliest moment; one of a command that has ended among them until ``clean(_:_:)``.
    var first: Int64? { heap.first?.moment }

    mutating func add(_ id: UUID, at moment: Int64) {
        heap.append(Deadline(moment: moment, id: id))
        var place = heap.count - 1
        while place > 0, heap[(place - 1) / 2].moment > heap[place].moment {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Removes ended commands that are first, and the others where they are the larger part.
    ///
    /// - Parameters:
    ///   - count: How many have not ended.
    ///   - isOpen: Whether a command has not ended, and is to be given up at this moment.
    mutating func clean(_ count: Int, _ isOpen: (UUID, Int64) -> Bool) {
        while let first = heap.first, !isOpen(first.id, first.moment) { removeFirst() }
        guard heap.count > 2 * count + 64 else { return }
        heap = heap.filter { isOpen($0.id, $0.moment) }.sorted { $0.moment < $1.moment }
    }

    /// Takes what is due.
    mutating func take(at now: Int64) -> [(id: UUID, moment: Int64)] {
        var due: [(id: UUID, moment: Int64)] = []
        while let first = heap.first, first.moment <= now {
            due.append((first.id, first.moment))
            removeFirst()
        }
        return due
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && heap[child].moment < heap[least].moment { least = child }
            guard least != place else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
