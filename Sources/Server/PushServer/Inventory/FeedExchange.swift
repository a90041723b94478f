import Dispatch
import PushCore
import Synchronization

/// Lets a feed tell the changes of other nodes too: those with listeners say so, and receive the ids of what has changed.
package final class FeedExchange: NodeListener {
    /// The time for which a node counts as one with listeners after it has said so: it does each second.
    static let listeningTime = Duration.seconds(4)
    /// The pause in which changes are collected, in milliseconds.
    static let pause = 100

    private let feed: NotificationFeed
    private let messenger: any NodeMessenger
    private let node: UInt16
    private let queue = DispatchQueue(label: "aldaba.feed")
    private let state = Mutex(State())

    private struct State {
        var alive: Set<UInt16> = []
        /// The nodes with listeners, and until when they count.
        var listening: [UInt16: ContinuousClock.Instant] = [:]
        /// The changes that are not sent yet, and the number of those that were too many.
        var changes: [NotificationID] = []
        var missed = 0
    }

    /// Creates an instance that exchanges changes from now on.
    package init(_ feed: NotificationFeed, _ messenger: any NodeMessenger, node: UInt16) {
        self.feed = feed
        self.messenger = messenger
        self.node = node
        messenger.listen(self, as: .feed)
        feed.forward(changes: { [weak self] in self?.add($0) }, listening: { [weak self] in self?.announceListeners() })
    }

    // MARK: To other nodes

    /// Says to the other nodes that this one has listeners.
    private func announceListeners() {
        for node in state.withLock({ $0.alive }) where node != self.node {
            messenger.send(FeedMessage.listening(node: self.node).encoded, to: node, as: .feed) { _ in }
        }
    }

    private func add(_ ids: [NotificationID]) {
        let begins = state.withLock { state in
            let wasEmpty = state.changes.isEmpty
            let space = max(0, NotificationFeed.limit - state.changes.count)
            state.changes += ids.prefix(space)
            state.missed += max(0, ids.count - space)
            return wasEmpty
        }
        if begins { queue.asyncAfter(deadline: .now() + .milliseconds(Self.pause)) { [weak self] in self?.send() } }
    }

    private func send() {
        let now = ContinuousClock.now
        let (message, nodes) = state.withLock { state in
            state.listening = state.listening.filter { $0.value > now }
            feed.isForwarding = !state.listening.isEmpty
            defer { (state.changes, state.missed) = ([], 0) }
            return (FeedMessage.changes(state.changes, missed: state.missed), state.listening.keys)
        }
        // A node that does not receive them shows what comes next.
        for node in nodes { messenger.send(message.encoded, to: node, as: .feed) { _ in } }
    }

    // MARK: From other nodes

    /// Receives the state of the nodes, and tells them of listeners.
    package func receive(_ nodes: RunningNodes) {
        state.withLock { $0.alive = nodes.alive }
        if feed.hasListeners { announceListeners() }
    }

    /// Receives a message of another node.
    package func receive(_ bytes: [UInt8]) {
        switch FeedMessage(bytes) {
        case .listening(let node):
            state.withLock { $0.listening[node] = .now + Self.listeningTime }
            feed.isForwarding = true
        case .changes(let ids, let missed): feed.record(ids, missed: missed)
        case nil: break
        }
    }
}

/// A message between the feeds of nodes: one byte of kind, and numbers in big-endian.
package enum FeedMessage: Hashable, Sendable {
    /// A node has listeners.
    case listening(node: UInt16)
    /// Notifications have changed, and more than these.
    case changes([NotificationID], missed: Int)

    /// The message's bytes.
    package var encoded: [UInt8] {
        switch self {
        case .listening(let node): [1] + Self.bytes(node)
        case .changes(let ids, let missed):
            [2] + Self.bytes(UInt32(clamping: missed)) + ids.flatMap { Self.bytes($0.rawValue) }
        }
    }

    /// Reads a message; `nil` for bytes that are none.
    package init?(_ bytes: [UInt8]) {
        func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>, _: Number.Type) -> Number {
            bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
        switch bytes.first {
        case 1 where bytes.count == 3: self = .listening(node: number(bytes[1...], UInt16.self))
        case 2 where bytes.count >= 5 && (bytes.count - 5) % 8 == 0:
            let ids = stride(from: 5, to: bytes.count, by: 8).map {
                NotificationID(rawValue: number(bytes[$0..<$0 + 8], Int64.self))
            }
            self = .changes(ids, missed: Int(number(bytes[1..<5], UInt32.self)))
        default: return nil
        }
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
