import PushCore
import PushServer

/// The partitions of single days. Rows of other days, as of a node whose clock is wrong, are in the default partitions.
struct PostgresDays {
    /// The kind of a partition's bounds.
    enum Key {
        case id
        case time
    }

    static let tables: [(name: String, key: Key)] = [
        ("message", .id), ("timeline", .id), ("report_counted", .id), ("identity", .time),
    ]

    /// The milliseconds of a day.
    private static let length: Int64 = 86_400_000
    /// The days after today whose partitions are there: a node that cannot make them has as long to tell.
    private static let ahead: Int64 = 3

    let connection: PostgresConnection

    /// The first instant of a day, by its number since 1970.
    static func start(_ day: Int64) -> Timestamp { Timestamp(rawValue: day * length) }

    /// The lowest id that a notification of a day, or of a later one, can have.
    static func firstID(_ day: Int64) -> Int64 {
        NotificationIDGenerator(node: 0, highWater: 0).floor(at: start(day))
    }

    /// Makes the partitions of today and the next days where they are missing.
    ///
    /// A day of which the default partition has rows gets none, and neither does one for which a lock cannot be had at once:
    /// its rows are in the default partition then.
    func make(at now: Timestamp) throws {
        let today = now.rawValue / Self.length
        let known = try days()
        for day in today...(today + Self.ahead) where !known.contains(day) {
            for (table, key) in Self.tables {
                let bounds = [day, day + 1].map { key == .id ? Self.firstID($0) : Self.start($0).rawValue }
                do {
                    try connection.transaction { connection in
                        try connection.execute(
                            """
                            SET LOCAL lock_timeout = '2s';
                            CREATE TABLE IF NOT EXISTS \(table)_\(day) PARTITION OF \(table)
                                FOR VALUES FROM (\(bounds[0])) TO (\(bounds[1]))
                            """)
                    }
                } catch let error as PostgresError where ["23514", "55P03", "42P07"].contains(error.code) {
                    continue
                }
            }
        }
    }

    /// The numbers of the days that have a partition of messages, in their order.
    func days() throws -> [Int64] {
        let rows = try connection.run(
            """
            SELECT substr(relname, 9)::bigint FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = 'message'::regclass AND relname ~ '^message_[0-9]+$' ORDER BY 1
            """)
        return try rows.map { try $0[0] }
    }

    /// Drops the partitions of a day, of which the tables have no row that is needed.
    func drop(_ day: Int64) throws {
        for (table, _) in Self.tables { try connection.execute("DROP TABLE IF EXISTS \(table)_\(day)") }
    }
}
