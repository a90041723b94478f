import PushCore
import PushServer
import Testing

/// What every ``InventoryStore`` must do; a store's test suite runs each rule against a fresh store.
package struct InventoryStoreContract<Store: InventoryStore & NotificationStore> {
    let store: Store
    let register: any RegisterStore
    private let now = Timestamp(seconds: 1_780_272_000)
    private let team = TeamID(rawValue: "TEAM123456")
    private let neighbour = TeamID(rawValue: "OTHERTEAM1")

    /// The rules for a store and the register in the same database.
    package init(_ store: Store, register: any RegisterStore) {
        self.store = store
        self.register = register
    }

    private func app(_ topic: String, of team: TeamID) async throws -> RegisteredApp {
        try await register.addApp(topic: Topic(rawValue: topic), team: team, policy: MailboxPolicy(), at: now)
    }

    private func record(_ number: Int64, of app: RegisteredApp, device: UInt64 = 1) throws -> RowChange {
        .insertNotification(
            NotificationRecord(
                id: NotificationID(rawValue: number),
                subject: TokenSubject(
                    cell: 0, device: try #require(DeviceID(device)), app: app.id, environment: .sandbox, generation: 0),
                apnsID: nil, pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: now,
                expiresAt: now + .seconds(60), waits: true, lane: .apns, payload: .own(Array("{}".utf8))))
    }

    private func ids(_ change: (inout NotificationFilter) -> Void = { _ in }) async throws -> [Int64] {
        var filter = NotificationFilter()
        change(&filter)
        return try await store.notifications(filter, before: nil, limit: 100).items.map(\.timeline.id.rawValue)
    }

    package func `notifications are listed the newest first, by team, app, device and state`() async throws {
        let (mine, theirs) = (try await app("com.example.a", of: team), try await app("com.example.b", of: neighbour))
        try store.apply([
            record(10, of: mine), record(11, of: theirs), record(12, of: mine, device: 2),
            .insertRefusal(
                RefusalRecord(
                    id: NotificationID(rawValue: 13), team: team, topic: "com.example.a", apnsID: nil, at: now,
                    code: "BadTopic", note: nil)),
            .appendLine(
                TimelineEntry(at: now + .seconds(1), state: .acked, source: .server),
                to: NotificationID(rawValue: 10)),
            .removeWaiting(NotificationID(rawValue: 10), of: try #require(DeviceID(1))),
        ])
        #expect(try await ids() == [13, 12, 11, 10])
        #expect(try await ids { $0.team = team } == [13, 12, 10])
        #expect(try await ids { $0.topic = theirs.topic } == [11])
        #expect(try await ids { $0.device = DeviceID(1) } == [11, 10])
        #expect(try await ids { $0.state = .waiting } == [12, 11])
        #expect(try await ids { ($0.team, $0.state) = (team, .ended) } == [10])
        #expect(try await ids { $0.state = .refused } == [13])
        let newest = try await store.notifications(NotificationFilter(team: team), before: nil, limit: 1).items.first
        #expect(newest?.timeline.entries.map(\.state) == [.failed("BadTopic")])
    }

    package func `pages hold everything once, whatever comes meanwhile`() async throws {
        let app = try await app("com.example.a", of: team)
        try store.apply((1...25).map { try record($0, of: app) })
        var (found, cursor, rounds): ([Int64], NotificationID?, Int) = ([], nil, 0)
        repeat {
            let page = try await store.notifications(NotificationFilter(), before: cursor, limit: 10)
            found += page.items.map(\.timeline.id.rawValue)
            cursor = page.next
            rounds += 1
            try store.apply([record(100 + Int64(rounds), of: app)])
        } while cursor != nil
        #expect(found == Array((1...25).reversed()))
        #expect(rounds == 3)
    }

    package func `a slice looks at so many and says where the next begins, though it holds none`() async throws {
        let (mine, theirs) = (try await app("com.example.a", of: team), try await app("com.example.b", of: neighbour))
        try store.apply([record(1, of: mine)] + (2...2001).map { try record(Int64($0), of: theirs) })
        let filter = NotificationFilter(team: team)
        let first = try await store.notifications(filter, before: nil, limit: 10)
        #expect(first.items.isEmpty && first.next == NotificationID(rawValue: 2))
        let second = try await store.notifications(filter, before: first.next, limit: 10)
        #expect(second.items.map(\.timeline.id.rawValue) == [1] && second.next == nil)
    }

    package func `devices are listed with what a team may see of them`() async throws {
        let (mine, theirs) = (try await app("com.example.a", of: team), try await app("com.example.b", of: neighbour))
        let devices = try (1...3).map { try #require(DeviceID($0)) }
        for device in devices { #expect(try await register.addDevice(device, secretHash: [1], at: now)) }
        for (device, app) in [(devices[0], mine), (devices[0], theirs), (devices[1], theirs), (devices[2], mine)] {
            _ = try await register.register(device: device, app: app.id, environment: .sandbox, at: now)
        }
        _ = try await register.endRegistration(device: devices[2], app: mine.id, environment: .sandbox, at: now)
        #expect(try await register.revokeDevice(devices[2], at: now))
        func found(_ change: (inout DeviceFilter) -> Void = { _ in }) async throws -> [[String]] {
            var filter = DeviceFilter()
            change(&filter)
            return try await store.devices(filter, after: nil, limit: 100).items.map {
                [$0.device.device.description] + $0.registrations.map(\.topic.rawValue)
            }
        }
        #expect(try await found() == [["1", "com.example.a", "com.example.b"], ["2", "com.example.b"], ["3"]])
        #expect(try await found { $0.team = team } == [["1", "com.example.a"]])
        #expect(try await found { $0.topic = theirs.topic }.map(\.first) == ["1", "2"])
        #expect(try await found { $0.state = .revoked } == [["3"]])
        let page = try await store.devices(DeviceFilter(), after: devices[0], limit: 1)
        #expect(page.items.map(\.device.device) == [devices[1]] && page.next == devices[1])
    }

    package func `a device is read with its apps, what waits for them and what they missed`() async throws {
        let (mine, theirs) = (try await app("com.example.a", of: team), try await app("com.example.b", of: neighbour))
        let device = try #require(DeviceID(1))
        #expect(try await register.addDevice(device, secretHash: [1], at: now))
        for app in [mine, theirs] {
            _ = try await register.register(device: device, app: app.id, environment: .sandbox, at: now)
        }
        let missed = MissedNotifications(app: mine.id, environment: .sandbox, lane: .apns, count: 3, since: now)
        try store.apply([record(10, of: mine), record(11, of: mine), .addMissed(missed, of: device)])
        let found = try #require(try await store.device(device, team: nil))
        #expect(found.device.enrolledAt == now && found.state == .active && found.device.registrations == 2)
        #expect(found.apps.map(\.topic) == [mine.topic, theirs.topic] && found.apps.map(\.waiting) == [2, 0])
        #expect(
            found.apps.first?.missed == [DeviceDetail.Missed(reason: .expired, lane: .apns, count: 3, since: now)])
        #expect(found.apps.allSatisfy { $0.registeredAt == now && !$0.hasEncryptionKey && $0.web == nil })
        #expect(try await store.device(device, team: team)?.apps.map(\.topic) == [mine.topic])
        #expect(try await store.device(device, team: TeamID(rawValue: "NOBODY0001")) == nil)
        #expect(try await store.device(try #require(DeviceID(2)), team: nil) == nil)
        #expect(try await register.revokeDevice(device, at: now))
        #expect(try await store.device(device, team: nil)?.state == .revoked)
    }

    /// All that an ``InventoryStore`` must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("notifications") {
                try await $0.`notifications are listed the newest first, by team, app, device and state`()
            },
            ContractRule("pages") { try await $0.`pages hold everything once, whatever comes meanwhile`() },
            ContractRule("slices") {
                try await $0.`a slice looks at so many and says where the next begins, though it holds none`()
            },
            ContractRule("devices") { try await $0.`devices are listed with what a team may see of them`() },
            ContractRule("device") {
                try await $0.`a device is read with its apps, what waits for them and what they missed`()
            },
        ]
    }
}
