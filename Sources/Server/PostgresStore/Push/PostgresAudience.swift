import PushCore
import PushServer

/// The broadcasts for devices, read in the present transaction. Each row is found by its key; nothing is read of other devices.
struct PostgresAudience {
    let connection: PostgresConnection

    /// The position at which a topic's broadcasts are read.
    private struct Beginning: Hashable {
        var topic: TopicNumber
        var after: Int64
    }

    private typealias Found = [(sequence: Int64, id: NotificationID)]

    /// Reads the broadcasts for the devices; for those in `known` only their broadcasts, and for those in `away` also what has
    /// expired since.
    func read(
        _ devices: Set<DeviceID>, known: [DeviceID: DeviceAudience], away: [DeviceID: Timestamp],
        into found: inout Prefetched
    ) throws {
        var concerned = try read(known: known, into: &found)
        let others = known.isEmpty ? Array(devices) : devices.filter { known[$0] == nil }
        concerned += try read(others, away: away, into: &found)
        try readBroadcasts(of: concerned, into: &found)
    }

    /// Reads nothing of the devices themselves; returns those for which there are broadcasts.
    private func read(known: [DeviceID: DeviceAudience], into found: inout Prefetched) throws -> [DeviceID] {
        guard let first = known.values.lazy.map(\.cursor).min() else { return [] }
        let latest = try latest(after: first)
        var audiences = known
        // Devices that were not processed for long are read topic by topic.
        let late = known.filter { latest.broadcasts(for: $0.value) == nil }
        let loaded = try loadBroadcasts(
            after: Set(late.values.flatMap { beginnings(of: $0).map { Beginning(topic: $0, after: $1) } }))
        var concerned: [DeviceID] = []
        for (device, audience) in known {
            let broadcasts = latest.broadcasts(for: audience) ?? self.broadcasts(for: audience, loaded)
            audiences[device]?.broadcasts = broadcasts
            if !broadcasts.isEmpty { concerned.append(device) }
        }
        found.audiences.merge(audiences) { $1 }
        let apps = Set(concerned.flatMap { audiences[$0]?.registrations.map(\.place.app) ?? [] })
        found.apps.merge(try self.apps(apps.subtracting(found.apps.keys))) { $1 }
        return concerned
    }

    /// Returns the devices for which there are broadcasts.
    private func read(
        _ devices: [DeviceID], away: [DeviceID: Timestamp], into found: inout Prefetched
    ) throws -> [DeviceID] {
        guard !devices.isEmpty else { return [] }
        let parameter = [PostgresParameter.devices(devices)]
        let rows = try connection.pipeline([
            .init("SELECT device, sequence FROM fanout_cursor WHERE device = ANY($1::bigint[])", parameter),
            .init(
                """
                SELECT app, environment, generation, topic, joined, NULL::bigint, device FROM subscription
                WHERE device = ANY($1::bigint[])
                """, parameter),
        ])
        var audiences = Dictionary(devices.map { ($0, DeviceAudience(cursor: 0)) }) { $1 }
        for row in rows[0] { audiences[try row[0]]?.cursor = try row[1] }
        for row in rows[1] { audiences[try row[6]]?.memberships.append(try Membership(row)) }
        let loaded = try loadBroadcasts(
            after:
                Set(audiences.values.flatMap { beginnings(of: $0).map { Beginning(topic: $0, after: $1) } }))
        var concerned: [DeviceID] = []
        for device in devices {
            guard var audience = audiences[device] else { continue }
            audience.broadcasts = broadcasts(for: audience, loaded)
            if let seen = away[device] { audience.expired = try expired(for: audience, since: seen) }
            if !audience.broadcasts.isEmpty || !audience.expired.isEmpty { concerned.append(device) }
            found.audiences[device] = audience
        }
        try readRegistrations(of: concerned, into: &found)
        return concerned
    }

    /// Reads the broadcasts that devices have, each once, and the ended subscriptions that they refer to.
    private func readBroadcasts(of devices: [DeviceID], into found: inout Prefetched) throws {
        let wanted = Set(devices.flatMap { found.audiences[$0]?.broadcasts ?? [] })
        guard !wanted.isEmpty else { return }
        let rows = try connection.run(
            .init(
                """
                SELECT broadcast.*, payload.lane, payload.content FROM broadcast JOIN payload ON payload.id = broadcast.id
                WHERE broadcast.id = ANY($1::bigint[])
                """, [.ids(Array(wanted))]))
        for row in rows {
            guard let record = try BroadcastRecord(row) else { continue }
            found.broadcasts[record.broadcast.id] = record
        }
        let lookingBack = devices.filter { device in
            found.audiences[device]?.broadcasts.contains {
                found.broadcasts[$0]?.broadcast.audience.dependsOnLeaving == true
            } == true
        }
        guard !lookingBack.isEmpty else { return }
        let past = try connection.run(
            .init(
                """
                SELECT app, environment, generation, topic, joined, ended, device FROM past_subscription
                WHERE device = ANY($1::bigint[])
                """, [.devices(lookingBack)]))
        for row in past { found.audiences[try row[6]]?.memberships.append(try Membership(row)) }
    }

    /// The positions at which the broadcasts of a device's topics, and those for everyone, are read.
    private func beginnings(of audience: DeviceAudience) -> [TopicNumber: Int64] {
        var beginnings: [TopicNumber: Int64] = [.everyone: audience.cursor]
        for membership in audience.memberships {
            let after = max(membership.joined, audience.cursor)
            beginnings[membership.topic] = min(beginnings[membership.topic] ?? after, after)
        }
        return beginnings
    }

    /// The next broadcasts for the device's topics and for everyone, in their order.
    private func broadcasts(for audience: DeviceAudience, _ loaded: [Beginning: Found]) -> [NotificationID] {
        var found: [Int64: NotificationID] = [:]
        for (topic, after) in beginnings(of: audience) {
            for each in loaded[Beginning(topic: topic, after: after)] ?? [] { found[each.sequence] = each.id }
        }
        return found.sorted { $0.key < $1.key }.prefix(DeviceAudience.broadcastLimit).map(\.value)
    }

    /// The next broadcasts of topics, all in one statement.
    private func loadBroadcasts(after beginnings: Set<Beginning>) throws -> [Beginning: Found] {
        guard !beginnings.isEmpty else { return [:] }
        let list = Array(beginnings)
        let rows = try connection.run(
            .init(
                """
                SELECT wanted.topic, wanted.after, found.sequence, found.broadcast
                FROM unnest($1::bigint[], $2::bigint[]) AS wanted(topic, after)
                CROSS JOIN LATERAL (SELECT sequence, broadcast FROM broadcast_topic
                    WHERE topic = wanted.topic AND sequence > wanted.after
                    ORDER BY sequence LIMIT \(DeviceAudience.broadcastLimit)) AS found
                """, [.int8s(list.map(\.topic.rawValue)), .int8s(list.map(\.after))]))
        var found: [Beginning: Found] = [:]
        for row in rows {
            found[Beginning(topic: try row[0], after: try row[1]), default: []].append((try row[2], try row[3]))
        }
        return found
    }

    /// The latest broadcasts after a sequence number, with their topics.
    private func latest(after first: Int64) throws -> LatestBroadcasts {
        let rows = try connection.run(
            "SELECT sequence, topic, broadcast FROM broadcast_topic WHERE sequence > $1 ORDER BY sequence DESC LIMIT $2",
            first, LatestBroadcasts.limit)
        var latest = LatestBroadcasts(after: first)
        for row in rows { latest.prepend(sequence: try row[0], topic: try row[1], broadcast: try row[2]) }
        return latest
    }

    /// The broadcasts beyond a device's cursor that expired since it was last seen.
    private func expired(for audience: DeviceAudience, since seen: Timestamp) throws -> [ExpiredBroadcast] {
        let topics = Set(audience.memberships.map(\.topic)).union([.everyone])
        let rows = try connection.run(
            .init(
                """
                SELECT found.* FROM unnest($1::bigint[]) AS wanted(topic)
                CROSS JOIN LATERAL (SELECT * FROM expired_broadcast WHERE topic = wanted.topic AND expires_at > $2
                    ORDER BY expires_at LIMIT \(DeviceAudience.expiredLimit)) AS found
                """, [.int8s(topics.map(\.rawValue)), PostgresParameter(seen)]))
        var found: [NotificationID: ExpiredBroadcast] = [:]
        for row in rows {
            guard let broadcast = try Broadcast(row), broadcast.sequence > audience.cursor else { continue }
            found[broadcast.id] = ExpiredBroadcast(broadcast, lane: try row["lane"])
        }
        return found.values.sorted { $0.broadcast.expiresAt < $1.broadcast.expiresAt }
    }

    private func readRegistrations(of devices: [DeviceID], into found: inout Prefetched) throws {
        guard !devices.isEmpty else { return }
        let rows = try connection.run(
            .init(
                """
                SELECT app, environment, generation, registered_at, device FROM registration
                WHERE ended_at IS NULL AND device = ANY($1::bigint[])
                """, [.devices(devices)]))
        let apps = try self.apps(Set(try rows.map { try $0[0] as AppID }))
        found.apps.merge(apps) { $1 }
        for row in rows {
            guard let app = apps[try row[0]] else { continue }
            found.audiences[try row[4]]?.registrations.append(
                FanoutRegistration(
                    place: AppPlace(app: app.id, environment: try row[1]), generation: try row[2], team: app.team,
                    registeredAt: try row[3]))
        }
    }

    private func apps(_ ids: Set<AppID>) throws -> [AppID: RegisteredApp] {
        guard !ids.isEmpty else { return [:] }
        let rows = try connection.run(
            .init(
                "SELECT * FROM app WHERE id = ANY($1::bigint[]) AND removed_at IS NULL",
                [.int8s(ids.map { Int64($0.rawValue) })]))
        return Dictionary(try rows.map { try RegisteredApp($0) }.map { ($0.id, $0) }) { $1 }
    }
}

extension Membership {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            place: AppPlace(app: try row[0], environment: try row[1]), generation: try row[2], topic: try row[3],
            joined: try row[4], left: try row[5])
    }
}

extension Broadcast {
    /// Decodes a row; `nil` for an audience of a later version.
    init?(_ row: PostgresRow) throws {
        guard let audience = Audience(text: try row["audience"]) else { return nil }
        self.init(
            id: try row["id"], sequence: try row["sequence"], team: try row["team"], audience: audience,
            acceptedAt: try row["accepted_at"], expiresAt: try row["expires_at"], isAttempt: try row["is_attempt"])
    }
}

extension BroadcastRecord {
    /// Decodes a row with the payload; `nil` for an audience of a later version.
    fileprivate init?(_ row: PostgresRow) throws {
        guard let broadcast = try Broadcast(row) else { return nil }
        let content: [UInt8] = try row["content"]
        let lane: Lane = try row["lane"]
        self.init(
            broadcast: broadcast, pushType: try row.pushType("push_type"), priority: try row["priority"],
            collapseID: try row["collapse_id"], content: lane == .fcm ? .fcm(content) : .apns(content))
    }
}
