import PushCore
import PushServer
import RelayProtocol

/// Devices that wait to be paired, where several servers use the database. A place has one device; the limits are those of one
/// server alone.
struct RelayPairings {
    /// The outcome of naming a place.
    struct Outcome: Sendable {
        /// The session that had named the same place.
        var partner: RelaySession?
        /// The session whose pairing was ended for another.
        var displaced: RelaySession?
    }

    private let sql: any SQLConnection

    init(_ sql: any SQLConnection) { self.sql = sql }

    /// Records that a device names a place.
    func add(
        _ session: RelaySession, at place: [UInt8], from network: String?, node: UInt16, now: Timestamp
    ) throws -> Outcome {
        try sql.run("DELETE FROM relay_pairing WHERE device = ?", session.device)
        let source = network.map { "network \($0)" } ?? "device \(session.device)"
        let isAwaited = try sql.row("SELECT device FROM relay_pairing WHERE place = ?", place) != nil
        let displaced = isAwaited ? nil : try makeSpace(for: source, node: node, now: now)
        // The place is locked from here on, by whoever names it first.
        for _ in 0..<2 {
            let added = try sql.run(
                """
                INSERT INTO relay_pairing (place, device, node, epoch, source, expires_at) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """, place, session.device, Int64(node), Int64(session.epoch), source,
                now.adding(milliseconds: PairingLimits.lifetime))
            if added > 0 { break }
            let other = try sql.row(
                "DELETE FROM relay_pairing WHERE place = ? RETURNING device, node, epoch, expires_at", place)
            if let other, try other["expires_at"] > now.rawValue {
                return Outcome(partner: try Self.session(other, node), displaced: displaced)
            }
        }
        return Outcome(displaced: displaced)
    }

    /// Records that a session waits no more.
    func remove(_ session: RelaySession) throws {
        try sql.run(
            "DELETE FROM relay_pairing WHERE device = ? AND epoch = ?", session.device, Int64(session.epoch))
    }

    /// Ends a device's pairing where its source has its share, or where all places are taken.
    private func makeSpace(for source: String, node: UInt16, now: Timestamp) throws -> RelaySession? {
        let own = try count("SELECT count(*) AS count FROM relay_pairing WHERE source = ?", source)
        if own >= PairingLimits.share { return try displace(source, node: node) }
        guard try count("SELECT count(*) AS count FROM relay_pairing") >= PairingLimits.count else { return nil }
        if try sql.run("DELETE FROM relay_pairing WHERE expires_at <= ?", now) > 0 { return nil }
        let largest = try sql.row(
            """
            SELECT source FROM relay_pairing GROUP BY source ORDER BY count(*) DESC, min(expires_at) LIMIT 1
            """)
        return try largest.flatMap { try displace(try $0["source"], node: node) }
    }

    private func count(_ text: String, _ parameters: any SQLValue...) throws -> Int {
        try sql.execute(text, parameters.map(\.parameter)).rows.first?["count"] ?? 0
    }

    private func displace(_ source: String, node: UInt16) throws -> RelaySession? {
        try sql.row(
            """
            DELETE FROM relay_pairing WHERE place = (
                SELECT place FROM relay_pairing WHERE source = ? ORDER BY expires_at LIMIT 1)
            RETURNING device, node, epoch
            """, source
        ).map { try Self.session($0, node) }
    }

    private static func session(_ row: any SQLRow, _ own: UInt16) throws -> RelaySession {
        let node = UInt16(truncatingIfNeeded: try row["node"] as Int64)
        return RelaySession(
            device: try row["device"], epoch: UInt64(bitPattern: try row["epoch"] as Int64),
            node: node == own ? nil : node)
    }
}
