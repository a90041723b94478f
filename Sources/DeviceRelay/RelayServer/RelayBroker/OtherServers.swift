import PushCore
import PushServer
import RelayProtocol

/// The other servers with the same database, as a relay sees them.
package struct RelaySharing: Sendable {
    /// The number of this server.
    var node: UInt16
    var messenger: any NodeMessenger
    var database: RelayDatabase

    /// Creates an instance from its properties.
    package init(node: UInt16, messenger: any NodeMessenger, database: RelayDatabase) {
        self.node = node
        self.messenger = messenger
        self.database = database
    }
}

/// The state of a broker beside the directory, where several servers use the database: a value.
struct OtherServers {
    /// The frames of a session whose hello is being stored.
    struct Joining {
        var account: RelayDirectory.AccountID
        /// The number of hellos that are being stored.
        var hellos = 0
        var frames: [@Sendable () -> Void] = []
    }

    /// An account that is being read.
    struct Reading {
        /// Whether it has changed since the reading began.
        var isWantedAgain = false
        /// The frames that wait until it is read, in order; `nil` where none has waited.
        var frames: [@Sendable () -> Void]?
    }

    /// The maximum number of frames that wait for one session or account.
    static let frameLimit = 1024

    var alive: Set<UInt16> = []
    /// The servers that have run and do not: their sessions in the store are over.
    var dead: Set<UInt16> = []
    var joining: [RelaySession: Joining] = [:]
    /// The sessions that have named a place to be paired.
    var pairing: Set<RelaySession> = []
    /// The accounts of those sessions, with the highest revision that was announced meanwhile.
    var announced: [RelayDirectory.AccountID: (sessions: Int, revision: Int64)] = [:]
    var reading: [RelayDirectory.AccountID: Reading] = [:]
    /// The servers that did not receive an announcement, and read everything later.
    var behind: Set<UInt16> = []
    /// Whether everything is being compared with the store, and whether that is wanted again after it.
    var isComparing = false
    var isComparingAgain = false

    /// The changes that were read of an account, without the sessions of servers that do not run.
    func living(_ read: SharedAccount) -> SharedAccount {
        var read = read
        for place in read.changed.indices {
            if let node = read.changed[place].session?.node, dead.contains(node) { read.changed[place].session = nil }
        }
        return read
    }

    mutating func begin(_ session: RelaySession, of account: RelayDirectory.AccountID) {
        var joining = joining[session] ?? Joining(account: account)
        if joining.hellos > 0 { _ = endAnnouncements(for: joining.account) }
        joining.account = account
        joining.hellos += 1
        self.joining[session] = joining
        announced[account, default: (0, 0)].sessions += 1
    }

    /// Takes the frames that a session has sent while its hello was stored, unless another one is being stored.
    mutating func takeFrames(of session: RelaySession) -> [@Sendable () -> Void] {
        guard joining[session]?.hellos == 1, let frames = joining[session]?.frames else { return [] }
        joining[session]?.frames = []
        return frames
    }

    /// Ends the storing of one hello.
    ///
    /// - Returns: The highest revision of the account that was announced meanwhile.
    mutating func end(_ session: RelaySession) -> Int64 {
        guard let known = joining[session] else { return 0 }
        guard known.hellos <= 1 else {
            joining[session]?.hellos -= 1
            return 0
        }
        joining[session] = nil
        return endAnnouncements(for: known.account)
    }

    private mutating func endAnnouncements(for account: RelayDirectory.AccountID) -> Int64 {
        guard let known = announced[account] else { return 0 }
        announced[account] = known.sessions > 1 ? (known.sessions - 1, known.revision) : nil
        return known.revision
    }
}

/// The contents of a hello.
struct RelayHello: Sendable {
    var account: RelayDirectory.AccountID
    var device: RelayDevice
    var wake: RelayWakeChannel?
    var known: DirectoryRevision?

    /// Enters it into a directory. The store has the device already.
    func enter(_ directory: inout RelayDirectory, _ session: RelaySession, at now: Timestamp)
        -> [RelayDirectory.Directive]
    {
        directory.hello(session, account: account, device, wake: wake, knows: known, at: now.rawValue)
            .filter { directive in
                switch directive {
                case .keep, .forget: false
                default: true
                }
            }
    }
}
