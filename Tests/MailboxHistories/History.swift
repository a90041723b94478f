import AldabaTestSupport
import PushCore
import PushServer

/// One random life of a mailbox between a provider and a device: a server that crashes and whose commits fail, two
/// connections that race, acknowledgements that are lost or come twice, and a clock that jumps.
///
/// The server's part does what the mailbox says and nothing else. The model beside it is simple: what was accepted, how
/// each ended, and what the device has shown.
package struct History {
    /// What travels to the device, in order.
    enum Item: Hashable {
        case notification(NotificationID)
        case deletion(Mailbox.Tombstone)
        case recall(Mailbox.Recall)
        /// The server has these acknowledgements on its disk.
        case confirmation([NotificationID])
    }

    /// A connection as both ends and the wire between them see it.
    struct Connection {
        /// The last id that the server wrote.
        var cursor = NotificationID(rawValue: 0)
        var toDevice: [Item] = []
        var toServer: [[NotificationID]] = []
    }

    /// What ended a notification, and what the device was told, over many histories.
    package struct Tally: Sendable {
        /// How many notifications ended in each state.
        package var ends: [NotificationState: Int] = [:]
        /// How many were shown, and taken off the screen again.
        package var shown = 0, recalled = 0
        /// How many deletions devices were told of.
        package var deletions = 0

        /// A tally of nothing yet.
        package init() {}

        /// Adds what another counted.
        package mutating func add(_ other: Tally) {
            ends.merge(other.ends, uniquingKeysWith: +)
            shown += other.shown
            recalled += other.recalled
            deletions += other.deletions
        }
    }

    var random: SeededGenerator
    let policies: [MailboxPolicy]
    // The server: what is in memory, and what is on its disk.
    var mailbox = Mailbox()
    var rows: [Mailbox.Entry] = []
    var tombstones: [Mailbox.Tombstone] = []
    var recalls: [Mailbox.Recall] = []
    var sent: Set<NotificationID> = []
    var now = Timestamp(seconds: 1_780_272_000)
    var nextID: Int64 = 1
    // The wire: the connection that the device uses, and the one before, on which acknowledgements may still come.
    var connection: Connection?
    var earlier: Connection?
    // The device: what it names at its next login, and what its person has seen.
    var unconfirmed: Set<NotificationID> = []
    var shown: [NotificationID] = []
    var visible: Set<NotificationID> = []
    // The model.
    var accepted: [Mailbox.Entry] = []
    var ends: [NotificationID: NotificationState] = [:]
    var acknowledgedByDevice: Set<NotificationID> = []
    var cleared = 0
    var told = 0
    var deletions = 0
    var recalled: Set<NotificationID> = []
    /// What was not as it must be; empty for a history that is right.
    package private(set) var faults: [String] = []

    /// A history of its own for each seed.
    package init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let limit = Int(random.next() % 5) + 1
        let overflow = MailboxPolicy.Overflow.allCases[Int(random.next() % 3)]
        policies = [
            MailboxPolicy(limit: limit, overflow: overflow),
            .fcm(limit: limit, collapseLimit: Int(random.next() % 2) + 1),
        ]
    }

    /// Plays a history to its end; the tally says what happened in it.
    package static func play(seed: UInt64, steps: Int) -> (faults: [String], tally: Tally) {
        var history = History(seed: seed)
        var step = 0
        while step < steps, history.faults.isEmpty {
            history.step()
            step += 1
        }
        history.settle()
        var tally = Tally()
        for state in history.ends.values { tally.ends[state, default: 0] += 1 }
        tally.shown = history.shown.count
        tally.recalled = history.recalled.count
        tally.deletions = history.deletions
        return (history.faults, tally)
    }

    mutating func fault(_ text: String) { faults.append(text) }

    mutating func chance(_ outOf: UInt64) -> Bool { random.next() % outOf == 0 }

    mutating func newID() -> NotificationID {
        nextID += 1
        return NotificationID(rawValue: nextID)
    }

    mutating func step() {
        switch random.next() % 32 {
        case 0..<9: accept()
        case 9..<14: write()
        case 14..<20: read()
        case 20..<23: takeAcknowledgement(ofEarlier: chance(3))
        case 23..<25: connect()
        case 25: cut()
        case 26: crash()
        case 27: passTime()
        case 28: withdraw()
        case 29: failCommit()
        case 30: if chance(4) { beAway() } else { loseAcknowledgement() }
        default: repeatAcknowledgement()
        }
    }
}
