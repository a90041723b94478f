import Dispatch
import RelayProtocol
import Synchronization

/// A change of a document.
public enum UserDocumentChange: Sendable {
    /// It was put.
    case put(UserDocument)
    /// It was removed; its revision is this.
    case removed(name: String, revision: Int64)
    /// A document was changed that cannot be opened here: none of the person's devices sealed it in this form.
    case unreadable
    /// Changes may have been missed, since the agent ended meanwhile or too many waited to be read. The documents must
    /// be read again.
    case missed
}

/// Changes of this app's documents, in the order in which the server accepted them. Of several unread changes of one
/// document only the last is kept. The sequence ends with the task that reads it, and has a single reader.
public struct UserDocumentChanges: AsyncSequence, Sendable {
    private let pending = UnreadDocumentChanges()
    private let place: Place

    /// The registration of a reader, which ends with the last copy of the sequence.
    fileprivate final class Place: Sendable {
        private let watching: DocumentWatching
        private let number: Int

        init(_ watching: DocumentWatching, _ number: Int) {
            self.watching = watching
            self.number = number
        }

        deinit { watching.leave(number) }
    }

    init(_ watching: DocumentWatching) { place = Place(watching, watching.join(pending)) }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(pending: pending, place: place) }

    /// Reads changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let pending: UnreadDocumentChanges
        private var additions: AsyncStream<Void>.Iterator
        private let place: Place

        fileprivate init(pending: UnreadDocumentChanges, place: Place) {
            self.pending = pending
            self.place = place
            additions = pending.additions.makeAsyncIterator()
        }

        /// The next change; `nil` when the task is cancelled.
        public mutating func next() async -> UserDocumentChange? {
            while !Task.isCancelled {
                if let change = pending.take() { return change }
                if await additions.next() == nil { return nil }
            }
            return nil
        }
    }
}

/// Changes that wait to be read: one of a document, and of so many documents at most.
final class UnreadDocumentChanges: Sendable {
    /// The most documents whose changes are queued. Beyond that they are dropped, and ``UserDocumentChange/missed`` is
    /// sent.
    static let limit = 1024

    private struct State {
        var changes: [String: UserDocumentChange] = [:]
        /// The names, the oldest first; those before `begin` are taken.
        var names: [String] = []
        var begin = 0
        var isUnreadable = false
        var hasMissed = false

        mutating func add(_ change: UserDocumentChange, _ name: String) {
            guard changes.updateValue(change, forKey: name) == nil else { return }
            guard changes.count <= UnreadDocumentChanges.limit else {
                (changes, names, begin, hasMissed) = ([:], [], 0, true)
                return
            }
            names.append(name)
        }

        mutating func take() -> UserDocumentChange? {
            if hasMissed {
                hasMissed = false
                return .missed
            }
            if isUnreadable {
                isUnreadable = false
                return .unreadable
            }
            guard begin < names.count else { return nil }
            let change = changes.removeValue(forKey: names[begin])
            begin += 1
            if begin >= UnreadDocumentChanges.limit || begin == names.count {
                names.removeFirst(begin)
                begin = 0
            }
            return change
        }
    }

    private let state = Mutex(State())
    /// Something was added.
    let additions: AsyncStream<Void>
    private let add: AsyncStream<Void>.Continuation

    init() { (additions, add) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func add(_ change: UserDocumentChange) {
        state.withLock { state in
            switch change {
            case .put(let document): state.add(change, document.name)
            case .removed(let name, _): state.add(change, name)
            case .unreadable: state.isUnreadable = true
            case .missed: state.hasMissed = true
            }
        }
        add.yield(())
    }

    func take() -> UserDocumentChange? { state.withLock { $0.take() } }
}

/// The readers of changes. The agent is asked once for all of them, and again after it has ended.
final class DocumentWatching: Sendable {
    private struct State {
        var last = 0
        var readers: [Int: UnreadDocumentChanges] = [:]
        var listener: Int?
        /// The agent has ended since it was asked.
        var isLost = false
    }

    private let client: RelayClient
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "aldaba.relay.documents")
    /// How long after a refusal the agent is asked again.
    private let pause: DispatchTimeInterval

    init(client: RelayClient, pause: DispatchTimeInterval = .seconds(1)) {
        self.client = client
        self.pause = pause
    }

    /// - Returns: The reader's number.
    func join(_ reader: UnreadDocumentChanges) -> Int {
        // A listener receives the agent's notices before the answer to the request is handled.
        let listener = client.listen { [weak self] in self?.receive($0) }
        let (number, isFirst) = state.withLock { state in
            let isFirst = state.listener == nil
            if isFirst { state.listener = listener }
            state.last += 1
            state.readers[state.last] = reader
            return (state.last, isFirst)
        }
        if !isFirst { client.ignore(listener) }
        return number
    }

    func leave(_ number: Int) {
        let listener = state.withLock { state -> Int? in
            state.readers[number] = nil
            guard state.readers.isEmpty else { return nil }
            defer { (state.listener, state.isLost) = (nil, false) }
            return state.listener
        }
        if let listener { client.ignore(listener) }
    }

    private func receive(_ news: RelayClient.News) {
        switch news {
        case .ended: state.withLock { $0.isLost = true }
        case .opened: if state.withLock({ $0.isLost }) { Task { await askAgain() } }
        case .notice(.told(_, let map)): if let change = UserDocumentChange(map) { addToReaders(change) }
        case .notice: break
        }
    }

    private func addToReaders(_ change: UserDocumentChange) {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.add(change) }
    }

    /// Asks again after the agent has restarted: changes made meanwhile are not reported.
    private func askAgain() async {
        guard state.withLock({ $0.isLost && !$0.readers.isEmpty }) else { return }
        let notice = await client.ask { .document(request: $0, .watch) }
        // The next connection is reported as opened.
        guard case .answered(_, _, let outcome)? = notice else { return }
        if outcome.status == .success {
            state.withLock { $0.isLost = false }
            addToReaders(.missed)
        } else {
            queue.asyncAfter(deadline: .now() + pause) { [weak self] in
                if let self { Task { await self.askAgain() } }
            }
        }
    }
}

extension UserDocumentChange {
    init?(_ map: RelayMap) {
        if case .bool(true)? = map["unreadable"] {
            self = .unreadable
            return
        }
        guard case .string(let name)? = map["name"] else { return nil }
        if case .bool(true)? = map["removed"] {
            self = .removed(name: name, revision: map.integer("revision") ?? 0)
        } else if let document = UserDocument(map, named: name) {
            self = .put(document)
        } else {
            return nil
        }
    }
}
