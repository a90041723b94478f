import PushCore
import PushServer

extension PostgresStore: NodeStore {
    /// Ends the transaction of the batch, and with it the locks of its mailboxes.
    package func abandon() { mailboxes?.abandon() }

    /// Writes the node's row and reads the others', in one round trip.
    package func recordHeartbeat(
        _ report: NodeReport, after sequence: Int64?,
        then complete: @escaping @Sendable (Result<NodeHeartbeat, any Error>) -> Void
    ) {
        let state: [PostgresParameter] = [
            PostgresParameter(Int64(node)), PostgresParameter(run),
            PostgresParameter(Int64(clamping: register.registerVersion)),
            PostgresParameter(program), PostgresParameter(Int64(report.sessions)),
            PostgresParameter(report.isCarrierConnected),
        ]
        // What an answer had that was lost would not be in the next one: the caller looks at everything then.
        pool.readStatements(
            isRepeated: false,
            { [node] connection in
                let rows = try connection.pipeline([
                    .init(Self.heartbeatSQL, state),
                    .init("SELECT id, run, beat_at > clock_timestamp() - interval '5 seconds' FROM node_state"),
                    .init(
                        "DELETE FROM missed_wakeup WHERE node = $1 RETURNING device", [PostgresParameter(Int64(node))]),
                    .init("SELECT value FROM meta WHERE key = 'fanout'"),
                    // What is added between the two is read again by the next heartbeat.
                    .init(
                        "SELECT DISTINCT topic FROM broadcast_topic WHERE sequence > $1",
                        [PostgresParameter(sequence ?? .max)]),
                    .init("SELECT coalesce(max(number), 0) FROM app_message"),
                ])
                var heartbeat = NodeHeartbeat(
                    sequence: try rows[3].first?[0] ?? 0, topics: try rows[4].map { try $0[0] },
                    lastMessage: try rows[5].first?[0] ?? 0)
                for row in rows[1] {
                    guard let number = UInt16(exactly: try row[0] as Int64) else { continue }
                    heartbeat.nodes[number] = NodeHeartbeat.Node(run: try row[1], isAlive: try row[2])
                }
                heartbeat.missed = Set(try rows[2].map { try $0[0] })
                return heartbeat
            }, then: complete)
    }

    /// A run that has lost the node's number to a later one does not write over its row.
    private static let heartbeatSQL = """
        INSERT INTO node_state(id, run, beat_at, register_version, program, sessions, carrier)
        VALUES($1, $2, clock_timestamp(), $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET run = excluded.run, beat_at = excluded.beat_at,
            register_version = excluded.register_version, program = excluded.program, sessions = excluded.sessions,
            carrier = excluded.carrier
        WHERE node_state.run <= excluded.run OR node_state.beat_at < clock_timestamp() - interval '5 seconds'
        """

    /// Adds a row for each device, in the order of the rows' keys.
    package func addMissed(_ devices: [UInt16: Set<DeviceID>], then complete: @escaping @Sendable (Bool) -> Void) {
        let rows = devices.flatMap { node, devices in devices.map { (node: Int64(node), device: $0) } }
            .sorted { ($0.node, $0.device) < ($1.node, $1.device) }
        pool.readStatements({ connection in
            _ = try connection.run(
                .init(
                    """
                    INSERT INTO missed_wakeup SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING
                    """, [.int8s(rows.map(\.node)), .devices(rows.map(\.device))]))
        }) { result in
            if case .success = result { complete(true) } else { complete(false) }
        }
    }

    /// Reads the rows by their keys.
    package func rows(
        of devices: [DeviceID], then complete: @escaping @Sendable (Result<[DeviceID: MailboxRow], any Error>) -> Void
    ) {
        pool.readStatements(
            { connection in
                try MailboxLocks.rows(
                    try connection.run(
                        .init(
                            """
                            SELECT device, last_id, revision, node::bigint, epoch FROM mailbox
                            WHERE device = ANY($1::bigint[])
                            """, [.devices(devices)])))
            }, then: complete)
    }

    /// Records that this node has ended, so that the others need not wait for it.
    func endRun() throws {
        try mailboxes?.read { [node] connection in
            _ = try connection.run("UPDATE node_state SET beat_at = '-infinity' WHERE id = $1", Int64(node))
        }
    }
}
