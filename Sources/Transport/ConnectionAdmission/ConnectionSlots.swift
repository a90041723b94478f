/// Which connections of a listener are open, and which one gives way to a new one: a value, without sockets.
///
/// Every event costs O(1), amortized.
public struct ConnectionSlots<Connection: Hashable & Sendable>: Sendable {
    /// How many connections there may be.
    public struct Limits: Hashable, Sendable {
        /// In all.
        public var total: Int
        /// From one address; addresses that are exempt do not count.
        public var perAddress: Int
        /// That have not proven themselves.
        public var unproven: Int

        /// Takes the three limits; each is at least 1, and less is taken as 1.
        public init(total: Int, perAddress: Int, unproven: Int) {
            self.total = max(1, total)
            self.perAddress = max(1, perAddress)
            self.unproven = max(1, unproven)
        }
    }

    /// What becomes of a new connection.
    public enum Decision: Hashable, Sendable {
        /// Admitted; no other connection is touched.
        case admitted
        /// Admitted. The named connection, the oldest that has not proven itself, has to be closed.
        case replacing(Connection)
        /// Not admitted; it has to be closed.
        case refused(ConnectionRefusal)
    }

    private struct Entry {
        var address: ClientAddress?
        var isProven = false
    }

    private let limits: Limits
    private var entries: [Connection: Entry] = [:]
    private var countOfAddress: [ClientAddress: Int] = [:]
    /// Unproven connections in the order of their opening; those that were proven or closed since are passed over.
    private var unprovenOrder: [Connection] = []
    private var head = 0
    private var unprovenCount = 0

    /// Slots that are all free.
    public init(limits: Limits) { self.limits = limits }

    /// How many connections are open.
    public var count: Int { entries.count }

    /// How many of them have not proven themselves.
    public var unproven: Int { unprovenCount }

    /// How many places of the order are kept.
    var remembered: Int { unprovenOrder.count }

    /// A connection was accepted.
    ///
    /// - Parameter address: `nil` for one that does not count against its address.
    public mutating func opened(_ connection: Connection, from address: ClientAddress?) -> Decision {
        if let address, countOfAddress[address, default: 0] >= limits.perAddress { return .refused(.addressFull) }
        var givenUp: Connection?
        if entries.count >= limits.total || unprovenCount >= limits.unproven {
            guard let oldest = takeOldestUnproven() else { return .refused(.full) }
            remove(oldest)
            givenUp = oldest
        }
        entries[connection] = Entry(address: address)
        if let address { countOfAddress[address, default: 0] += 1 }
        unprovenOrder.append(connection)
        unprovenCount += 1
        return givenUp.map { .replacing($0) } ?? .admitted
    }

    /// The peer showed a valid credential: the connection gives way to nobody any more.
    ///
    /// - Returns: `false` when it had proven itself before, or is not open.
    @discardableResult
    public mutating func proven(_ connection: Connection) -> Bool {
        guard entries[connection]?.isProven == false else { return false }
        entries[connection]?.isProven = true
        unprovenCount -= 1
        compact()
        return true
    }

    /// The connection is closed. It changes nothing for one that gave way before.
    public mutating func closed(_ connection: Connection) {
        remove(connection)
        compact()
    }

    private mutating func remove(_ connection: Connection) {
        guard let entry = entries.removeValue(forKey: connection) else { return }
        if !entry.isProven { unprovenCount -= 1 }
        guard let address = entry.address, let count = countOfAddress[address] else { return }
        countOfAddress[address] = count > 1 ? count - 1 : nil
    }

    private mutating func takeOldestUnproven() -> Connection? {
        while head < unprovenOrder.count {
            let candidate = unprovenOrder[head]
            head += 1
            if entries[candidate]?.isProven == false { return candidate }
        }
        return nil
    }

    /// Cuts out what was passed over once that is the larger part.
    private mutating func compact() {
        guard unprovenOrder.count - head > 2 * unprovenCount + 64 || head > unprovenOrder.count / 2 + 64 else { return }
        unprovenOrder = unprovenOrder[head...].filter { entries[$0]?.isProven == false }
        head = 0
    }
}

/// Why a connection was not admitted. A closed set, fit for a metric's label.
public enum ConnectionRefusal: String, Sendable, CaseIterable {
    /// The listener has as many proven connections as it may.
    case full
    /// The address has as many connections as it may.
    case addressFull = "address_full"
    /// More come than the listener's protocol takes at the moment.
    case busy
}
