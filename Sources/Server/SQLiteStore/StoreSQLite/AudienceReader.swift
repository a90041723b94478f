import Foundation
import GRDB
import PushCore
import PushServer

/// The broadcasts for devices, read from the database. Each row is found by its key; nothing is read of other devices.
///
/// Three statements read a slice of devices, whatever their number; the broadcasts of a topic are read once for all
/// devices with the same position. Of devices whose subscriptions the caller knows, nothing is read: one statement
/// finds the latest broadcasts for all of them.
struct AudienceReader {
    let database: Database

    /// The position at which a topic's broadcasts are read.
    private struct Beginning: Hashable {
        var topic: TopicNumber
        var after: Int64
    }

    private typealias Found = [(sequence: Int64, id: NotificationID)]

    /// The number of devices that one statement reads.
    private static let slice = 64

    /// Reads the broadcasts for the devices; for those in `known` only their broadcasts, and for those in `away` also what
    /// has expired since.
    func read(
        _ devices: Set<DeviceID>, known: [DeviceID: DeviceAudience], away: [DeviceID: Timestamp],
        into found: inout Prefetched
    ) throws {
        guard !devices.isEmpty else { return }
        var looks: [Beginning: Found] = [:]
        var concerned = try read(known: known, &looks, into: &found)
        let others = known.isEmpty ? Array(devices) : devices.filter { known[$0] == nil }
        for start in stride(from: 0, to: others.count, by: Self.slice) {
            let some = others[start..<min(start + Self.slice, others.count)]
            concerned += try read(some, away: away, &looks, into: &found)
        }
        try readBroadcasts(of: concerned, into: &found)
    }

    /// Reads nothing of the devices themselves; returns those for which there are broadcasts.
    private func read(
        known: [DeviceID: DeviceAudience], _ looks: inout [Beginning: Found], into found: inout Prefetched
    ) throws -> [DeviceID] {
        guard let first = known.values.lazy.map(\.cursor).min() else { return [] }
        let latest = try latest(after: first)
        var concerned: [DeviceID] = []
        for (device, known) in known {
            var audience = known
            // Devices that were not processed for long are read topic by topic.
            let broadcasts = try latest.broadcasts(for: known) ?? self.broadcasts(for: known, &looks)
            audience.broadcasts = broadcasts
            found.audiences[device] = audience
            guard !broadcasts.isEmpty else { continue }
            concerned.append(device)
            for registration in audience.registrations where found.apps[registration.place.app] == nil {
                found.apps[registration.place.app] = try app(registration.place.app.column)
            }
        }
        return concerned
    }

    /// Returns the devices for which there are broadcasts.
    private func read(
        _ devices: ArraySlice<DeviceID>, away: [DeviceID: Timestamp], _ looks: inout [Beginning: Found],
        into found: inout Prefetched
    ) throws -> [DeviceID] {
        let cursors = try cursors(of: devices)
        let memberships = try memberships(of: devices)
        var concerned: [DeviceID] = []
        for device in devices {
            var audience = DeviceAudience(cursor: cursors[device] ?? 0)
            audience.memberships = memberships[device] ?? []
            audience.broadcasts = try broadcasts(for: audience, &looks)
            if let seen = away[device] { audience.expired = try expired(for: audience, since: seen) }
            if !audience.broadcasts.isEmpty || !audience.expired.isEmpty { concerned.append(device) }
            found.audiences[device] = audience
        }
        guard !concerned.isEmpty else { return [] }
        let registrations = try registrations(of: concerned[...], &found.apps)
        for device in concerned { found.audiences[device]?.registrations = registrations[device] ?? [] }
        return concerned
    }

    /// Reads the broadcasts that devices have, each once, and the ended subscriptions that they refer to.
    private func readBroadcasts(of devices: [DeviceID], into found: inout Prefetched) throws {
        var read: Set<NotificationID> = []
        var lookingBack: [DeviceID] = []
        for device in devices {
            let broadcasts = found.audiences[device]?.broadcasts ?? []
            for id in broadcasts where read.insert(id).inserted { found.broadcasts[id] = try broadcast(id) }
            let looksBack = broadcasts.contains {
                found.broadcasts[$0]?.broadcast.audience.dependsOnLeaving == true
            }
            if looksBack { lookingBack.append(device) }
        }
        for start in stride(from: 0, to: lookingBack.count, by: Self.slice) {
            let some = lookingBack[start..<min(start + Self.slice, lookingBack.count)]
            for (device, past) in try pastMemberships(of: some) { found.audiences[device]?.memberships += past }
        }
    }

    /// Runs a statement that ends with a list of devices; a shorter list is filled up with one device's id.
    private func forEachRow(
        _ sql: String, of devices: ArraySlice<DeviceID>, _ body: (Row) throws -> Void
    ) throws {
        guard let last = devices.last else { return }
        // Two statements, which stay prepared: for one device alone, as at a login, and for a slice.
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

    private func pastMemberships(of devices: ArraySlice<DeviceID>) throws -> [DeviceID: [Membership]] {
        var memberships: [DeviceID: [Membership]] = [:]
        let sql = """
            SELECT app, environment, generation, topic, joined, ended, device FROM past_subscription WHERE device
            """
        try forEachRow(sql, of: devices) { row in
            if let device = DeviceID(column: row[6]) { memberships[device, default: []].append(Self.membership(row)) }
        }
        return memberships
    }

    private static func membership(_ row: Row) -> Membership {
        Membership(
            place: AppPlace(app: AppID(column: row[0]), environment: PushEnvironment(column: row[1])),
            generation: UInt16(truncatingIfNeeded: row[2] as Int64), topic: TopicNumber(rawValue: row[3]),
            joined: row[4], left: row[5])
    }

    /// The next broadcasts for the device's topics and for everyone, in their order.
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

    /// The latest broadcasts after a sequence number, with their topics.
    private func latest(after first: Int64) throws -> LatestBroadcasts {
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: Self.latestSQL), arguments: [first, LatestBroadcasts.limit])
        var latest = LatestBroadcasts(after: first)
        while let row = try rows.next() {
            latest.prepend(
                sequence: row[0], topic: TopicNumber(rawValue: row[1]), broadcast: NotificationID(rawValue: row[2]))
        }
        return latest
    }

    private func look(_ beginning: Beginning) throws -> Found {
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: Self.broadcastSQL),
            arguments: [beginning.topic.rawValue, beginning.after, DeviceAudience.broadcastLimit])
        var found: Found = []
        while let row = try rows.next() { found.append((row[0], NotificationID(rawValue: row[1]))) }
        return found
    }

    /// The broadcasts beyond a device's cursor that expired since it was last seen.
    private func expired(for audience: DeviceAudience, since seen: Timestamp) throws -> [ExpiredBroadcast] {
        var found: [NotificationID: ExpiredBroadcast] = [:]
        for topic in Set(audience.memberships.map(\.topic)).union([.everyone]) {
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: """
                        SELECT * FROM expired_broadcast WHERE topic = ? AND expires_at > ? ORDER BY expires_at LIMIT ?
                        """), arguments: [topic.rawValue, seen.rawValue, DeviceAudience.expiredLimit])
            while let row = try rows.next() {
                guard let broadcast = Self.broadcast(row), broadcast.sequence > audience.cursor else { continue }
                found[broadcast.id] = ExpiredBroadcast(broadcast, lane: Lane(rawValue: row["lane"]) ?? .fcm)
            }
        }
        return found.values.sorted { $0.broadcast.expiresAt < $1.broadcast.expiresAt }
    }

    static let broadcastSQL = """
        SELECT sequence, broadcast FROM broadcast_topic WHERE topic = ? AND sequence > ? ORDER BY sequence LIMIT ?
        """

    static let latestSQL = """
        SELECT sequence, topic, broadcast FROM broadcast_topic WHERE sequence > ? ORDER BY sequence DESC LIMIT ?
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
        ).map(SQLiteRegister.app)
    }

    /// A broadcast with its payload; `nil` when the row cannot be read.
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
