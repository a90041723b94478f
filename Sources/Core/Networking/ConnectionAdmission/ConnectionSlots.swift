/// The open connections of a listener, and the choice of the one that a new one replaces: a value, without sockets.
///
/// Every event costs O(1), amortized.
package struct ConnectionSlots<Connection: Hashable & Sendable>: Sendable {
    /// The maximum numbers of connections.
    package struct Limits: Hashable, Sendable {
        /// The number of all connections.
        package var total: Int
        /// The number from one address; exempt addresses are not counted.
        package var perAddress: Int
        /// The number of unproven connections.
        package var unproven: Int

        /// Creates limits; each is at least 1, and a lower value counts as 1.
        package init(total: Int, perAddress: Int, unproven: Int) {
            self.total = max(1, total)
            self.perAddress = max(1, perAddress)
            self.unproven = max(1, unproven)
        }
    }

    /// The decision on a new connection.
    package enum Decision: Hashable, Sendable {
        /// The connection is admitted, and no other is affected.
        case admitted
        /// The connection is admitted. Another one, the oldest unproven, must be closed.
        case replacing(Connection)
        /// The connection is refused and must be closed.
        case refused(ConnectionRejection)
    }

    private struct Entry {
        var address: ClientAddress?
        var isProven = false
    }

    private let limits: Limits
    private var entries: [Connection: Entry] = [:]
    private var countOfAddress: [ClientAddress: Int] = [:]
    /// Unproven connections in the order of their opening; those that were proven or closed since are skipped.
    private var unprovenOrder: [Connection] = []
    private var head = 0
    private var unprovenCount = 0

    /// Creates slots without connections.
    package init(limits: Limits) { self.limits = limits }

    /// The number of open connections.
    package var count: Int { entries.count }

    /// The number of unproven connections.
    package var unproven: Int { unprovenCount }

    /// The length of the order, including skipped entries.
    var remembered: Int { unprovenOrder.count }

    /// Decides on an accepted connection.
    ///
    /// - Parameter address: The peer's address; `nil` for an exempt one.
    package mutating func opened(_ connection: Connection, from address: ClientAddress?) -> Decision {
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

    /// Marks a connection as proven, since the peer presented a valid credential: no other connection replaces it.
    ///
    /// - Returns: `false` when it was proven before, or is not open.
    @discardableResult
    package mutating func proven(_ connection: Connection) -> Bool {
        guard entries[connection]?.isProven == false else { return false }
        entries[connection]?.isProven = true
        unprovenCount -= 1
        compact()
        return true
    }

    /// Removes a closed connection. Has no effect on one that was replaced before.
    package mutating func closed(_ connection: Connection) {
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

    /// Removes skipped entries once they are the larger part.
    private mutating func compact() {
        guard unprovenOrder.count - head > 2 * unprovenCount + 64 || head > unprovenOrder.count / 2 + 64 else { return }
        unprovenOrder = unprovenOrder[head...].filter { entries[$0]?.isProven == false }
        head = 0
    }
}

/// The reason why a connection was not admitted. A closed set, fit for a metric's label.
package enum ConnectionRejection: String, Sendable, CaseIterable {
    /// The listener has the maximum number of proven connections.
    case full
    /// The address has the maximum number of connections.
    case addressFull = "address_full"
    /// The rate limit of the listener's protocol is exceeded.
    case busy
}
