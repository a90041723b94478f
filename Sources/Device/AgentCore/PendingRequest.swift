import AgentWire
import Foundation
import GRDB
import LocalSchedule

/// A request that waits for its time or its place, as the store keeps it.
struct PendingRequest: Sendable, Hashable {
    /// By what the schedule knows it; never used twice.
    var key: Int64
    var app: String
    var request: NotificationRequest
    /// When it was added, by all clocks; what the clocks being set made of that.
    var added: ClockReading
    /// How many seconds east of UTC the machine was then.
    var addedOffset: Int?
    /// The last occurrence that fired or was passed over.
    var lastFired: Instant?
    /// Where the machine was last, with regard to the circle of a region.
    var side = RegionWatch.State.unknown
    /// How often it has fired.
    var fired: Int64 = 0

    static func fetch(
        _ database: Database, _ condition: String, _ arguments: StatementArguments = []
    ) throws -> [PendingRequest] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT key, app, request, added_at, boot, since_boot, last_fired, side, fired, zone_offset FROM pending
                WHERE \(condition)
                """)
        return try Row.fetchAll(statement, arguments: arguments).compactMap(PendingRequest.init)
    }

    init(
        key: Int64, app: String, request: NotificationRequest, added: ClockReading, addedOffset: Int? = nil,
        lastFired: Instant? = nil, side: RegionWatch.State = .unknown
    ) {
        self.key = key
        self.app = app
        self.request = request
        self.added = added
        self.addedOffset = addedOffset
        self.lastFired = lastFired
        self.side = side
    }

    /// Of rows that a version wrote which did not note it: no start of a system has this one.
    private static let unknownBoot = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// `nil` for what a version of before or after cannot have meant.
    private init?(_ row: Row) {
        guard let request = JSONText.read(row[2], as: NotificationRequest.self) else { return nil }
        let boot: String? = row[4]
        let lastFired: Int64? = row[6]
        self.init(
            key: row[0], app: row[1], request: request,
            added: ClockReading(
                wall: Instant(milliseconds: row[3]), boot: boot.flatMap(UUID.init(uuidString:)) ?? Self.unknownBoot,
                sinceBoot: row[5]),
            lastFired: lastFired.map(Instant.init(milliseconds:)),
            side: RegionWatch.State(rawValue: row[7]) ?? .unknown)
        fired = row[8]
        addedOffset = row[9]
    }
}

/// One occurrence of a request that waited.
struct DueRequest: Sendable, Hashable {
    var key: Int64
    var app: String
    var request: NotificationRequest
    /// When it should fire; `nil` where a place made it.
    var occurrence: Instant?
    /// Whether it waits no longer afterwards.
    var isLast: Bool
}
