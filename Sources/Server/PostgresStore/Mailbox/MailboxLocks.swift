import PushCore
import PushServer

/// Gives ids to notifications as any node of several can: the rows of the mailboxes are locked, and the ids of each rise whatever
/// the nodes' clocks say.
///
/// The server does not use it yet. `Benchmarks/StoreRate` measures it.
package struct MailboxLocks {
    /// A mailbox's row after ids were given.
    package struct Reservation: Hashable, Sendable {
        /// The device.
        package var device: DeviceID
        /// The milliseconds of the newest of the ids that were given, since ``NotificationIDGenerator/epoch``; those before it have
        /// one less each.
        package var lastInstant: Int64
        /// The revision of the mailbox, for what is kept of it in memory.
        package var revision: Int64
    }

    private let connection: PostgresConnection

    /// Uses a connection to the primary.
    package init(_ connection: PostgresConnection) throws {
        self.connection = connection
        try connection.execute(
            """
            SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET jit = off; \
            SET plan_cache_mode = force_generic_plan
            """)
    }

    /// Makes mailboxes for devices that have none.
    package func addMailboxes(_ devices: [DeviceID]) throws {
        try connection.run(
            .init(
                "INSERT INTO mailbox(device) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING", [.devices(devices)]))
    }

    /// Begins a transaction, locks the mailboxes of devices in the order of their ids, and gives them ids.
    ///
    /// - Parameter counts: How many ids each device gets; each device once.
    /// - Returns: The mailboxes; a device that has none gets one.
    package func reserve(_ counts: [DeviceID: Int], at now: Timestamp) throws -> [Reservation] {
        let ordered = counts.sorted { $0.key < $1.key }
        let instant = PostgresParameter(max(0, now.milliseconds(since: NotificationIDGenerator.epoch)))
        func parameters(_ counts: [(key: DeviceID, value: Int)]) -> [PostgresParameter] {
            [.devices(counts.map(\.key)), .counts(counts.map(\.value)), instant]
        }
        // The join is a nested loop over the array, so that rows are locked in its order.
        let rows = try connection.pipeline([
            .init("BEGIN"),
            .init(
                """
                UPDATE mailbox SET last_id = greatest(mailbox.last_id + wanted.count, $3), revision = revision + 1
                FROM unnest($1::bigint[], $2::bigint[]) AS wanted(device, count) WHERE mailbox.device = wanted.device
                RETURNING mailbox.device, mailbox.last_id, mailbox.revision
                """, parameters(ordered)),
        ])
        var found = try rows[1].map { try Reservation($0) }
        guard found.count < ordered.count else { return found }
        let known = Set(found.map(\.device))
        // Another node may make one of them meanwhile: a step of more than enough ids keeps them apart.
        found += try connection.run(
            .init(
                """
                INSERT INTO mailbox(device, last_id, revision)
                SELECT device, greatest($3, count), 1 FROM unnest($1::bigint[], $2::bigint[]) AS wanted(device, count)
                ON CONFLICT (device) DO UPDATE SET last_id = greatest(mailbox.last_id + \(Self.longestStep), $3),
                    revision = mailbox.revision + 1
                RETURNING device, last_id, revision
                """, parameters(ordered.filter { !known.contains($0.key) }))
        ).map { try Reservation($0) }
        return found
    }

    /// The ids that a device gets in one batch at most.
    private static let longestStep = 4096

    /// Writes a batch, and commits the transaction that ``reserve(_:at:)`` began.
    ///
    /// - Parameter begins: Whether the batch has a transaction of its own, since nothing was reserved.
    package func commit(_ batch: FoldedBatch, begins: Bool = false) throws {
        let statements = (begins ? [.init("BEGIN")] : []) + BatchStatements(batch).all + [.init("COMMIT")]
        guard try connection.pipeline(statements).last?.command == "COMMIT" else { throw PostgresError.undone }
    }

    /// Ends a transaction without its changes.
    package func rollBack() throws { try connection.rollBack() }
}

extension MailboxLocks.Reservation {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(device: try row[0], lastInstant: try row[1], revision: try row[2])
    }
}
