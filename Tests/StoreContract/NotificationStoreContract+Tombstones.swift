import PushCore
import PushServer
import Testing

/// What a store must do with what devices are told was cleared.
extension NotificationStoreContract {
    private func tombstone(
        _ id: Int64, _ count: Int, lane: Lane = .apns, environment: PushEnvironment = .sandbox
    ) -> Mailbox.Tombstone {
        Mailbox.Tombstone(
            id: NotificationID(rawValue: id), app: app.id, environment: environment, lane: lane, count: count,
            since: now)
    }

    private func tombstones(of device: DeviceID) throws -> [Mailbox.Tombstone] {
        try prefetched { $0.mailboxes = [device] }.tombstones[device] ?? []
    }

    package func `a tombstone is paged in its place until it is removed`() async throws {
        try store.apply([
            .insertNotification(record(10)), .insertNotification(record(30)),
            .keepTombstone(tombstone(15, 7), of: device), .keepTombstone(tombstone(20, 9), of: device),
            .keepTombstone(tombstone(25, 1, lane: .fcm), of: device),
            .keepTombstone(tombstone(22, 2, environment: .production), of: device),
        ])
        let page = try await page()
        #expect(page.map(\.id.rawValue) == [10, 20, 22, 25, 30])
        #expect(page.map { $0.notice != nil } == [false, true, true, true, false])
        #expect(page[1].notice == .deleted(count: 9, since: now))
        #expect(page[1].topic == app.topic && page[1].team == app.team && page[1].expiresAt == .distantFuture)
        #expect(page[2].environment == .production && page[3].lane == .fcm)
        let second = try await self.page(after: NotificationID(rawValue: 20), limit: 2)
        #expect(second.map(\.id.rawValue) == [22, 25])
        #expect(try tombstones(of: device).map(\.id.rawValue) == [20, 22, 25])
        #expect(try tombstones(of: device).first == tombstone(20, 9))
        #expect(try tombstones(of: stranger).isEmpty)
        try store.apply([
            .removeTombstone(NotificationID(rawValue: 20), of: stranger),
            .removeTombstone(NotificationID(rawValue: 25), of: device),
        ])
        #expect(try tombstones(of: device).map(\.id.rawValue) == [20, 22])
    }

    package func `tombstones leave with their app and their device`() async throws {
        try store.apply([
            .keepTombstone(tombstone(20, 9), of: device), .keepTombstone(tombstone(21, 9), of: stranger),
        ])
        #expect(try await register.revokeDevice(device, at: now))
        #expect(try tombstones(of: device).isEmpty && tombstones(of: stranger).count == 1)
        #expect(try await register.removeApp(topic: app.topic, at: now) == app)
        #expect(try tombstones(of: stranger).isEmpty)
    }

    private func missed(_ count: Int, lane: Lane = .apns, environment: PushEnvironment = .sandbox)
        -> MissedNotifications
    {
        MissedNotifications(app: app.id, environment: environment, lane: lane, count: count, since: now)
    }

    private func missed(by device: DeviceID) throws -> Set<MissedNotifications> {
        Set(try prefetched { $0.secretHashes = [device] }.missed[device] ?? [])
    }

    package func `what a device missed is counted by lane until it is forgotten`() async throws {
        var later = missed(2)
        later.since = now.adding(milliseconds: 5)
        try store.apply([
            .addMissed(missed(3), of: device), .addMissed(later, of: device),
            .addMissed(missed(1, lane: .fcm), of: device),
            .addMissed(missed(4, environment: .production), of: device), .addMissed(missed(1), of: stranger),
        ])
        let all: Set = [missed(5), missed(1, lane: .fcm), missed(4, environment: .production)]
        #expect(try missed(by: device) == all, "the first is that since when")
        let place = RegistrationKey(device: device, app: app.id, environment: .production)
        try store.apply([.forgetMissed(of: device, only: place)])
        #expect(try missed(by: device) == [missed(5), missed(1, lane: .fcm)])
        try store.apply([.forgetMissed(of: device, only: nil)])
        #expect(try missed(by: device).isEmpty)
        #expect(try await register.addDevice(stranger, secretHash: [1], at: now))
        #expect(try missed(by: stranger) == [missed(1)], "those of others stay")
        #expect(try await register.revokeDevice(stranger, at: now))
        #expect(try missed(by: stranger).isEmpty)
    }
}
