import Metrics
import NIOCore
import Networking
import PushCore
import Synchronization

/// The store and the carrier of a node.
struct NodePorts: Sendable {
    let store: any NodeStore
    let carrier: any NodeCarrier
}

/// The other nodes, as of the last heartbeat: a value.
struct OtherNodes {
    private var nodes: [UInt16: NodeHeartbeat.Node] = [:]
    /// The number of the last broadcast that was read; `nil` before the first heartbeat.
    private(set) var sequence: Int64?
    private var lastMessage: Int64?
    /// The time of the first answer of the store, or of the first one after a silence.
    private var firstAnswered: NIODeadline?
    /// The time at which the store was asked the last time of those that it answered.
    private var lastAsked: NIODeadline?
    /// The time at which the store is being asked; `nil` while it is not.
    var asking: NIODeadline?
    /// Whether rows of devices are being read for attempts.
    var isReadingRows = false
    /// Whether the store is to be asked again at once.
    var isHeartbeatWanted = false
    /// The tasks that wait for the next answer of the store.
    var readers: [CheckedContinuation<Void, Never>] = []
    /// Devices that were not announced to their nodes, and are not recorded in the store yet.
    var missed: [UInt16: Set<DeviceID>] = [:]
    var isWritingMissed = false

    /// The nodes that run, this one among them.
    var alive: Set<UInt16> { Set(nodes.filter(\.value.isAlive).keys) }

    /// The nodes that have run and do not.
    var dead: Set<UInt16> { Set(nodes.filter { !$0.value.isAlive }.keys) }

    /// Whether a node runs. A node that has a session and is not known yet has just started.
    func isAlive(_ node: UInt16) -> Bool { nodes[node]?.isAlive ?? true }

    /// Whether this node has not reached the store for so long that it does not know what the others have changed.
    func isSilent(at now: NIODeadline) -> Bool { lastAsked.map { now - $0 > Self.longestSilence } ?? false }

    /// Whether a node does what one of them has to do: the first that runs. Where two do it for a moment, it is done twice.
    func isFirst(_ node: UInt16) -> Bool { alive.min() ?? node == node }

    /// The time without an answer after which the others may have taken this node for dead; less than that of the store.
    private static let silence = TimeAmount.seconds(3)
    private static let longestSilence = TimeAmount.seconds(5)

    /// Records the state of the nodes, as the store had it after ``asking``.
    ///
    /// - Returns: `ended`, the nodes of which a run has ended; `hasGap`, whether sessions may lack messages: a node's run has ended, this node was silent, or the others
    ///   do not know it yet; and `hasMessages`, whether messages of apps have arrived.
    mutating func receive(_ heartbeat: NodeHeartbeat, at now: NIODeadline) -> (
        ended: Set<UInt16>, hasGap: Bool, hasMessages: Bool
    ) {
        // Others see the node's row when the store has committed it: the time counts from the question before.
        let wasSilent = now - (lastAsked ?? now) > Self.silence
        lastAsked = asking ?? now
        // The others may take it for dead until their next heartbeats, and announce nothing to it meanwhile.
        let begin = wasSilent ? now : firstAnswered ?? now
        firstAnswered = begin
        let isNew = now - begin < Self.silence
        let ended = nodes.filter { node, state in
            guard state.isAlive, let found = heartbeat.nodes[node], found.isAlive else { return state.isAlive }
            return state.run != Self.forgotten && found.run != state.run
        }
        let isForgotten = nodes.values.contains { $0.isAlive && $0.run == Self.forgotten }
        nodes = heartbeat.nodes
        sequence = heartbeat.sequence
        defer { lastMessage = heartbeat.lastMessage }
        return (
            Set(ended.keys), !ended.isEmpty || isForgotten || wasSilent || isNew,
            heartbeat.lastMessage > lastMessage ?? .max
        )
    }

    /// Lets the next heartbeat have a gap.
    mutating func forgetRuns() { for node in nodes.keys { nodes[node]?.run = Self.forgotten } }

    /// The number of no run.
    private static let forgotten: Int64 = -1
}

/// Attempts whose device's node is looked for. Thread-safe and bounded.
final class AttemptQueue: Sendable {
    static let limit = 8_192
    private let attempts = Mutex<[NodeAttempt]>([])

    func append(_ attempt: NodeAttempt) -> MailboxCommandQueue.EnqueueResult {
        attempts.withLock { attempts in
            guard attempts.count < Self.limit else { return .full }
            attempts.append(attempt)
            return attempts.count == 1 ? .wake : .queued
        }
    }

    func takeAll() -> [NodeAttempt] {
        attempts.withLock { attempts in
            defer { attempts = [] }
            return attempts
        }
    }
}

/// The metrics of a node among others.
enum NodeMetrics {
    static func recordSent(_ count: Int, _ answer: CarrierAnswer) {
        let outcome =
            switch answer {
            case .received: "received"
            case .unanswered: "unanswered"
            case .noNode: "no_node"
            }
        Counter(label: "aldaba_node_messages_total", dimensions: [("outcome", outcome)]).increment(by: count)
    }

    static func recordMissed(_ count: Int) { Counter(label: "aldaba_missed_wakeups_total").increment(by: count) }

    static func recordNodes(_ count: Int) { Gauge(label: "aldaba_nodes").record(count) }

    /// Counts a batch that was tried again, since it conflicted with another node's transaction.
    static func recordConflict() { Counter(label: "aldaba_transaction_conflicts_total").increment() }
}
