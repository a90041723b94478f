import PushCore
import PushServer

/// Writes acceptances and acknowledgements of any node: the mailboxes' rows are locked, ids are given under the locks, and one
/// statement a table makes the rest.
package struct MailboxWriter {
    /// A mailbox's row after ids were given.
    package struct Reservation: Hashable, Sendable {
        /// The device.
        package var device: DeviceID
        /// The milliseconds of the newest of the ids that were given, since ``NotificationIDGenerator/epoch``; those before it
        /// have one less each.
        package var lastInstant: Int64
        /// The revision of the mailbox, for what is kept of it in memory.
        package var revision: Int64
    }

    private let connection: PostgresConnection

    /// Prepares the statements.
    package init(_ connection: PostgresConnection) throws {
        self.connection = connection
        for statement in Self.statements { try connection.prepare(statement.name, statement.sql, statement.kinds) }
    }

    /// Makes mailboxes for devices that have none.
    package func addMailboxes(_ devices: [DeviceID]) throws {
        _ = try connection.pipeline([.init("mailbox", [.int8s(devices.map { Int64(bitPattern: $0.rawValue) })])])
    }

    /// Begins a transaction, locks the mailboxes of devices, and gives them ids.
    ///
    /// - Parameter counts: How many ids each device gets, in the order of the devices: two writers in the same order wait for
    ///   each other, in different ones they may lock each other out.
    /// - Returns: The mailboxes; a device without one is not among them.
    package func reserve(_ counts: [(device: DeviceID, count: Int)], at now: Timestamp) throws -> [Reservation] {
        let rows = try connection.pipeline([
            .init("begin"),
            .init(
                "reserve",
                [
                    .int8s(counts.map { Int64(bitPattern: $0.device.rawValue) }),
                    .int8s(counts.map { Int64($0.count) }),
                    .int8(max(0, now.milliseconds(since: NotificationIDGenerator.epoch))),
                ]),
        ])
        guard let found = rows.last else { return [] }
        return (0..<found.count).compactMap { row in
            guard let raw = found.integer(row, 0), let device = DeviceID(UInt64(bitPattern: raw)),
                let last = found.integer(row, 1), let revision = found.integer(row, 2)
            else { return nil }
            return Reservation(device: device, lastInstant: last, revision: revision)
        }
    }

    /// A batch with changes of other tables than those of mailboxes.
    package struct UnsupportedChanges: Error {}

    /// Writes a batch, and commits the transaction that ``reserve(_:at:)`` began.
    ///
    /// - Parameter begins: Whether the batch has a transaction of its own, since nothing was reserved.
    /// - Throws: ``UnsupportedChanges`` before anything is written; ``PostgresError``; where the connection was lost, whether it was committed is unknown.
    package func commit(_ batch: FoldedBatch, begins: Bool = false) throws {
        guard batch.isOfMailboxes else { throw UnsupportedChanges() }
        var queries: [PostgresConnection.Query] = begins ? [.init("begin")] : []
        if !batch.notifications.isEmpty { queries.append(Self.message(batch.notifications)) }
        let queued = batch.notifications.filter {
            batch.waiting.inserted.contains(FoldedBatch.OwnedID(device: $0.subject.device, id: $0.id))
        }
        if !queued.isEmpty { queries.append(Self.pending(queued)) }
        if !batch.waiting.removed.isEmpty { queries.append(Self.removal(Array(batch.waiting.removed))) }
        if !batch.lines.isEmpty { queries.append(Self.timeline(batch.lines)) }
        _ = try connection.pipeline(queries + [.init("commit")])
    }

    /// Ends a transaction without its changes.
    package func rollBack() throws { try connection.execute("ROLLBACK") }
}
