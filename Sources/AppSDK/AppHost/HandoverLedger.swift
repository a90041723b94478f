/// The ids that wait for the app, are with its handlers, or are answered and not confirmed by the agent.
///
/// Guarantees: an id is in one of the three only. It is forgotten when it is confirmed, or when it is dropped from
/// those that wait; so nothing is begun twice.
struct HandoverLedger<Item: Sendable, Answer: Sendable>: Sendable {
    /// The state of an id when it arrives.
    enum Arrival {
        case new
        /// It waits or is being handled; its answer will come.
        case pending
        case answered(Answer)
    }

    private struct Answered {
        let order: UInt64
        let answer: Answer
    }

    private var waiting: [(id: Int64, item: Item)] = []
    private var waitingIDs: Set<Int64> = []
    private var answered: [Int64: Answered] = [:]
    private var answers: UInt64 = 0
    /// The items that are with the app's handlers, by id; their owner may change them.
    var inProgress: [Int64: Item] = [:]

    var waitingCount: Int { waiting.count }
    var answeredCount: Int { answered.count }

    /// Notes an id that the agent delivered; a new one waits from now on.
    mutating func arrive(_ id: Int64, _ item: Item) -> Arrival {
        if let known = answered[id] { return .answered(known.answer) }
        guard inProgress[id] == nil, waitingIDs.insert(id).inserted else { return .pending }
        waiting.append((id, item))
        return .new
    }

    /// Begins the handling of the one that waits longest.
    mutating func begin() -> (id: Int64, item: Item)? {
        guard !waiting.isEmpty else { return nil }
        let next = waiting.removeFirst()
        waitingIDs.remove(next.id)
        inProgress[next.id] = next.item
        return next
    }

    /// The items that wait, the one that waits longest first.
    var waitingItems: [(id: Int64, item: Item)] { waiting }

    /// Ends the handling of an id without an answer: it waits again, before all others.
    mutating func restore(_ id: Int64) {
        guard let item = inProgress.removeValue(forKey: id) else { return }
        waitingIDs.insert(id)
        waiting.insert((id, item), at: 0)
    }

    /// Begins the handling of an item that waits, at any position.
    mutating func beginWaiting(_ id: Int64) {
        guard let place = waiting.firstIndex(where: { $0.id == id }) else { return }
        waitingIDs.remove(id)
        inProgress[id] = waiting.remove(at: place).item
    }

    /// Forgets the one that waits longest; the agent will hand it over again.
    mutating func dropOldestWaiting() {
        guard !waiting.isEmpty else { return }
        waitingIDs.remove(waiting.removeFirst().id)
    }

    /// Ends the handling of an id. `false` when it is not being handled: the answer came late, or twice.
    mutating func answer(_ id: Int64, _ answer: Answer) -> Bool {
        guard inProgress.removeValue(forKey: id) != nil else { return false }
        answered[id] = Answered(order: answers, answer: answer)
        answers &+= 1
        return true
    }

    /// Forgets the answers that the agent has stored.
    mutating func confirm(_ ids: [Int64]) {
        for id in ids { answered[id] = nil }
    }

    /// The answers that the agent may not have, in the order in which they were given.
    var unconfirmed: [(id: Int64, answer: Answer)] {
        answered.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.answer) }
    }
}
