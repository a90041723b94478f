import Fanout
import Foundation
import GRDB
import Mailbox
import PushModel
import RegisterCore
import ServerCore

/// What broadcasts have for devices. Each thing is found by its key; nothing is read of other devices.
///
/// A slice of devices is read by three statements, whatever their number; the broadcasts of a topic once for all who have looked at the
/// same.
struct AudienceReader {
    let database: Database

    /// Where a look at a topic begins.
    private struct Beginning: Hashable {
        var topic: TopicNumber
        var after: Int64
    }

    private typealias Found = [(sequence: Int64, id: NotificationID)]

    /// How many devices one statement reads.
    private static let slice = 64

    func read(_ devices: Set<DeviceID>, into found: inout Prefetched) throws {
        var known: Set<NotificationID> = []
        var looks: [Beginning: Found] = [:]
        let all = Array(devices)
        for start in stride(from: 0, to: all.count, by: Self.slice) {
            let some = all[start..<min(start + Self.slice, all.count)]
            try read(some, &known, &looks, into: &found)
        }
    }

    private func read(
        _ devices: ArraySlice<DeviceID>, _ known: inout Set<NotificationID>, _ looks: inout [Beginning: Found],
        into found: inout Prefetched
    ) throws {
        let cursors = try cursors(of: devices)
        let memberships = try memberships(of: devices)
        var concerned: [DeviceID] = []
        for device in devices {
            var audience = DeviceAudience(cursor: cursors[device] ?? 0)
            audience.memberships = memberships[device] ?? []
            audience.broadcasts = try broadcasts(for: audience, &looks)
            if !audience.broadcasts.isEmpty { concerned.append(device) }
            found.audiences[device] = audience
        }
        guard !concerned.isEmpty else { return }
        let registrations = try registrations(of: concerned[...], &found.apps)
        for device in concerned {
            found.audiences[device]?.registrations = registrations[device] ?? []
            let broadcasts = found.audiences[device]?.broadcasts ?? []
            for id in broadcasts where known.insert(id).inserted { found.broadcasts[id] = try broadcast(id) }
            let looksBack = broadcasts.contains {
                found.broadcasts[$0]?.broadcast.audience.dependsOnLeaving == true
            }
            if looksBack { found.audiences[device]?.memberships += try pastMemberships(of: device) }
        }
    }

    /// Runs a statement that ends with a list of devices; one device's id fills up what a slice lacks.
    private func forEachRow(
        _ sql: String, of devices: ArraySlice<DeviceID>, _ body: (Row) throws -> Void
    ) throws {
        guard let last = devices.last else { return }
        // One device alone, as at a login, and a slice: two statements, which stay prepared.
        let count = devices.count == 1 ? 1 : Self.slice
        let marks = repeatElement("?", count: count).joined(separator: ",")
        let ids = devices.map(\.column) + Array(repeating: last.column, count: count - devices.count)
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: sql + " IN (\(marks))"), arguments: StatementArguments(ids))
        while let row = try rows.next() { try body(row) }
    }

    private func cursors(of devices: ArraySlice<DeviceID>) throws -> [DeviceID: Int64] {
        var cursors: [DeviceID: Int64] = [:]
        try forEachRow("SELECT device, sequence FROM fanout_cursor WHERE device", of: devices) { row in
            if let device = DeviceID(column: row[0]) { cursors[device] = row[1] }
        }
        return cursors
    }

    private func memberships(of devices: ArraySlice<DeviceID>) throws -> [DeviceID: [Membership]] {
        var memberships: [DeviceID: [Membership]] = [:]
        let sql = """
            SELECT app, environment, generation, topic, joined, NULL, device FROM subscription WHERE device
            """
        try forEachRow(sql, of: devices) { row in
            if let device = DeviceID(column: row[6]) { memberships[device, default: []].append(Self.membership(row)) }
        }
        return memberships
    }

    private func pastMemberships(of device: DeviceID) throws -> [Membership] {
        let statement = try database.cachedStatement(
            sql: "SELECT app, environment, generation, topic, joined, ended FROM past_subscription WHERE device = ?")
        return try Row.fetchAll(statement, arguments: [device.column]).map(Self.membership)
    }

    private static func membership(_ row: Row) -> Membership {
        Membership(
            place: AppPlace(app: AppID(column: row[0]), environment: PushEnvironment(column: row[1])),
            generation: UInt16(truncatingIfNeeded: row[2] as Int64), topic: TopicNumber(rawValue: row[3]),
            joined: row[4], left: row[5])
    }

    /// The next broadcasts under the device's topics and under everyone's, in their order.
    private func broadcasts(
        for audience: DeviceAudience, _ looks: inout [Beginning: Found]
    ) throws -> [NotificationID] {
        var beginnings: [TopicNumber: Int64] = [.everyone: audience.cursor]
        for membership in audience.memberships {
            let after = max(membership.joined, audience.cursor)
            beginnings[membership.topic] = min(beginnings[membership.topic] ?? after, after)
        }
        var found: [Int64: NotificationID] = [:]
        for (topic, after) in beginnings {
            let beginning = Beginning(topic: topic, after: after)
            let known = try looks[beginning] ?? look(beginning)
            looks[beginning] = known
            for each in known { found[each.sequence] = each.id }
        }
        if found.isEmpty { return [] }
        return found.sorted { $0.key < $1.key }.prefix(DeviceAudience.broadcastLimit).map(\.value)
    }

    private func look(_ beginning: Beginning) throws -> Found {
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: Self.broadcastSQL),
            arguments: [beginning.topic.rawValue, beginning.after, DeviceAudience.broadcastLimit])
        var found: Found = []
        while let row = try rows.next() { found.append((row[0], NotificationID(rawValue: row[1]))) }
        return found
    }

    static let broadcastSQL = """
        SELECT sequence, broadcast FROM broadcast_topic WHERE topic = ? AND sequence > ? ORDER BY sequence LIMIT ?
        """

    private func registrations(
        of devices: ArraySlice<DeviceID>, _ apps: inout [AppID: RegisteredApp]
    ) throws -> [DeviceID: [FanoutRegistration]] {
        var registrations: [DeviceID: [FanoutRegistration]] = [:]
        var known: [Int64: RegisteredApp?] = [:]
        let sql = """
            SELECT app, environment, generation, registered_at, device FROM registration
            WHERE ended_at IS NULL AND device
            """
        try forEachRow(sql, of: devices) { row in
            let number = row[0] as Int64
            let app = try known[number] ?? self.app(number)
            known[number] = .some(app)
            guard let app, let device = DeviceID(column: row[4]) else { return }
            apps[app.id] = app
            registrations[device, default: []].append(
                FanoutRegistration(
                    place: AppPlace(app: app.id, environment: PushEnvironment(column: row[1])),
                    generation: UInt16(truncatingIfNeeded: row[2] as Int64), team: app.team,
                    registeredAt: Timestamp(rawValue: row[3])))
        }
        return registrations
    }

    private func app(_ number: Int64) throws -> RegisteredApp? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM app WHERE id = ? AND removed_at IS NULL"), arguments: [number]
        ).map(SQLiteStore.app)
    }

    /// A broadcast with its payload; `nil` when what is stored cannot be read.
    private func broadcast(_ id: NotificationID) throws -> BroadcastRecord? {
        let found = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT broadcast.*, payload.lane, payload.content FROM broadcast
                    JOIN payload ON payload.id = broadcast.id WHERE broadcast.id = ?
                    """), arguments: [id.rawValue])
        guard let row = found, let broadcast = Self.broadcast(row) else { return nil }
        let content = Array(row["content"] as Data)
        return BroadcastRecord(
            broadcast: broadcast, pushType: (row["push_type"] as String?).flatMap(PushType.init),
            priority: Priority(rawValue: row["priority"]) ?? .immediate, collapseID: row["collapse_id"],
            content: Lane(rawValue: row["lane"]) == .fcm ? .fcm(content) : .apns(content))
    }

    static func broadcast(_ row: Row) -> Broadcast? {
        guard let audience = Audience(text: row["audience"]) else { return nil }
        return Broadcast(
            id: NotificationID(rawValue: row["id"]), sequence: row["sequence"], team: TeamID(rawValue: row["team"]),
            audience: audience, acceptedAt: Timestamp(rawValue: row["accepted_at"]),
            expiresAt: Timestamp(rawValue: row["expires_at"]), isAttempt: row["is_attempt"])
    }
}

/// What is told of a broadcast.
struct BroadcastTimeline {
    let database: Database

    /// Its own lines, and the sums over its copies; counting takes as long as there are copies.
    func timeline(_ id: NotificationID) throws -> NotificationTimeline? {
        let found = try Row.fetchOne(
            database, sql: "SELECT * FROM broadcast WHERE id = ?", arguments: [id.rawValue])
        guard let row = found else { return nil }
        var entries = [
            TimelineEntry(at: Timestamp(rawValue: row["accepted_at"]), state: .accepted, source: .server)
        ]
        if let withdrawnAt = row["withdrawn_at"] as Int64? {
            entries.append(
                TimelineEntry(at: Timestamp(rawValue: withdrawnAt), state: .withdrawn, source: .server))
        }
        let targeted = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM payload_use WHERE payload = ?", arguments: [id.rawValue])
        let states = try Row.fetchAll(
            database,
            sql: """
                SELECT timeline.state, count(DISTINCT timeline.id) FROM payload_use
                    CROSS JOIN timeline ON timeline.id = payload_use.message
                WHERE payload_use.payload = ? GROUP BY timeline.state
                """, arguments: [id.rawValue])
        return NotificationTimeline(
            id: id, apnsID: APNsID(column: nil, of: id), team: TeamID(rawValue: row["team"]),
            topic: Topic(rawValue: ""), device: nil, environment: nil, entries: entries,
            broadcast: BroadcastSummary(
                audience: row["written"], expiresAt: Timestamp(rawValue: row["expires_at"]), targeted: targeted ?? 0,
                states: Dictionary(states.map { ($0[0] as String, $0[1] as Int) }, uniquingKeysWith: { $1 })))
    }
}
