import AldabaTestSupport
import DeviceChannel
import PushCore
import PushServer

/// One random life of a device's mailbox that several nodes change: sessions that move, messages between nodes that are lost, come twice or
/// overtake each other, nodes that die, commits whose outcome is not known, and clocks an hour apart.
///
/// The nodes do what the server's values say and nothing else: ``MailboxRow``, ``SessionBatchProgress``, `Mailbox` and
/// `DeliveryFlow`. The model beside them is simple: what was answered with yes, how each notification ended, and what the
/// device has shown.
package struct NodeHistory {
    /// A mistake in the nodes' rules, which the histories have to find.
    package enum Mistake: String, Sendable, CaseIterable {
        /// Ids are made from the node's clock alone.
        case idsFromTheClock
        /// A mailbox in memory is used although another node has changed it.
        case staleMailboxes
        /// What arrives is written at once, whatever was missed before.
        case writesAtOnce
        /// A commit whose outcome is not known is answered with yes.
        case unknownMeansYes
        /// A node does not look again where a message to it was lost.
        case forgetsMissed
    }

    /// An item in transit to the device.
    enum Item: Hashable {
        case notification(NotificationID)
        case deletion(Mailbox.Tombstone)
        case recall(Mailbox.Recall)
        case confirmation([NotificationID])
    }

    /// A node's session of the device, and its connection.
    struct Session {
        var epoch: UInt64
        var progress: SessionBatchProgress
        var flow = DeliveryFlow(capacity: 10_000)
        var toDevice: [Item] = []
        var toServer: [[NotificationID]] = []
    }

    struct Node {
        var isAlive = true
        /// Whether the process stands still, and the others take it for dead; its connections stay.
        var isPaused = false
        /// The difference of its clock from the others', in milliseconds.
        var offset: Int64
        var generator: NotificationIDGenerator
        var mailbox = Mailbox()
        var isRead = false
        var revision: Int64 = 0
        var inFlight: Set<NotificationID> = []
        var session: Session?
        var missed = false
    }

    /// The rows of the device, which a batch changes as a whole.
    struct Database {
        var row = MailboxRow()
        var entries: [Mailbox.Entry] = []
        var tombstones: [Mailbox.Tombstone] = []
        var recalls: [Mailbox.Recall] = []
        /// The notifications of the provider's requests, by their names.
        var identities: [Int: NotificationID] = [:]
        var ends: [NotificationID: NotificationState] = [:]
        var last = NotificationID(rawValue: 0)
    }

    /// A message between nodes.
    struct Message {
        var node: Int
        var ids: [NotificationID]
        var epoch: UInt64
        var revision: Int64
        /// Whether the session looks at everything again.
        var isWake = false
    }

    enum Commit { case made, failed, unknownMade, unknownLost }

    let mistake: Mistake?
    var random: SeededGenerator
    let policies: [MailboxPolicy]
    var nodes: [Node] = []
    var database = Database()
    var messages: [Message] = []
    var now = Timestamp(seconds: 1_780_272_000)
    // The device: the node that it is connected to, what it names at its next login, and what its person has seen.
    var connectedTo: Int?
    var unconfirmed: Set<NotificationID> = []
    var shown: [NotificationID] = []
    var visible: Set<NotificationID> = []
    // The model.
    var requests = 0
    var answered: [Int: NotificationID] = [:]
    var unanswered: Set<Int> = []
    var recalled: Set<NotificationID> = []
    var wasSent: Set<NotificationID> = []
    var isSettling = false
    /// The rules that were broken; empty for a history that is right.
    package private(set) var faults: [String] = []
    /// The number of gaps that sessions found, and of ids that followed another node's.
    package var gaps = 0, lateIDs = 0

    /// The number of notifications that the device has shown.
    package var shownCount: Int { shown.count }

    /// Creates the history of a seed.
    package init(seed: UInt64, mistake: Mistake? = nil) {
        self.mistake = mistake
        random = SeededGenerator(seed: seed)
        let limit = Int(random.next() % 5) + 2
        policies = [
            MailboxPolicy(limit: limit, overflow: MailboxPolicy.Overflow.allCases[Int(random.next() % 3)]),
            .fcm(limit: limit, collapseLimit: Int(random.next() % 2) + 1),
        ]
        for number in 0..<3 {
            var generator = NotificationIDGenerator(node: UInt16(number), highWater: 0)
            generator.raiseCeiling(to: .max)
            nodes.append(
                Node(offset: chance(3) ? Int64(random.next() % 7_200_000) - 3_600_000 : 0, generator: generator))
        }
    }

    /// Plays a history to its end.
    package static func play(seed: UInt64, steps: Int, mistake: Mistake? = nil) -> NodeHistory {
        var history = NodeHistory(seed: seed, mistake: mistake)
        var step = 0
        while step < steps, history.faults.isEmpty {
            history.step()
            step += 1
        }
        history.settle()
        return history
    }

    mutating func fault(_ text: String) { faults.append(text) }

    mutating func chance(_ outOf: UInt64) -> Bool { random.next() % outOf == 0 }

    /// A node that runs, chosen at random.
    mutating func anyNode() -> Int? {
        let alive = nodes.indices.filter { nodes[$0].isAlive }
        return alive.isEmpty ? nil : alive[Int(random.next() % UInt64(alive.count))]
    }

    private mutating func step() {
        now = now.adding(milliseconds: Int64(random.next() % 50))
        switch random.next() % 32 {
        case 0..<9: if let node = anyNode() { request(at: node) }
        case 9..<12: for _ in 0..<3 { deliverMessage() }
        case 12: loseMessage()
        case 13: if let message = messages.last { messages.append(message) }
        case 14..<20: read()
        case 20..<23: takeAcknowledgement()
        case 23..<25: if let node = anyNode() { connect(to: node) }
        case 25: connectedTo = nil
        case 26: endNode()
        case 27: for node in nodes.indices where !nodes[node].isAlive { goOn(node) }
        case 28: if let node = anyNode() { withdraw(at: node) }
        case 29: retry()
        case 30: if let node = anyNode() { heartbeat(node) }
        default: if let node = anyNode() { expire(at: node) }
        }
    }

    /// The outcome of a commit; while the history settles, all are made.
    mutating func outcome() -> Commit {
        guard !isSettling, chance(6) else { return .made }
        return [.failed, .unknownMade, .unknownLost][Int(random.next() % 3)]
    }
}
