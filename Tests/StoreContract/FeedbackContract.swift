import PushCore
import PushServer
import Testing

/// What every ``FeedbackStore`` must do, over the registrations that the same store keeps.
package struct FeedbackContract {
    let store: any RegisterStore & FeedbackStore
    let now = Timestamp(seconds: 1_780_272_000)

    package init(_ store: any RegisterStore & FeedbackStore) { self.store = store }

    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("ends") {
                try await $0.`every end of a registration waits to be read, whoever ended it, and is read once`()
            },
            ContractRule("pages") { try await $0.`ends are read the oldest first, as many as are asked for`() },
        ]
    }

    private func register(_ devices: Int, topic: String = "com.example.todo") async throws -> (AppID, [DeviceID]) {
        let app = try await store.addApp(
            topic: Topic(rawValue: topic), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(), at: now)
        let ids = (1...devices).compactMap { DeviceID(UInt64($0)) }
        for device in ids {
            _ = try await store.addDevice(device, secretHash: [1], at: now)
            _ = try await store.register(device: device, app: app.id, environment: .sandbox, at: now)
        }
        return (app.id, ids)
    }

    private func ends(_ app: AppID, limit: Int = 10) async throws -> [EndedRegistration] {
        try await store.endedRegistrations(app: app, environment: .sandbox, limit: limit)
    }

    package func `every end of a registration waits to be read, whoever ended it, and is read once`() async throws {
        let (app, devices) = try await register(3)
        for _ in 1...2 {
            _ = try await store.endRegistration(device: devices[0], app: app, environment: .sandbox, at: now)
        }
        _ = try await store.register(device: devices[0], app: app, environment: .sandbox, at: now)
        #expect(try await store.revokeDevice(devices[1], at: now))
        #expect(try await ends(app).map(\.device) == [devices[0], devices[1]])
        #expect(try await store.endedRegistrations(app: app, environment: .production, limit: 10).isEmpty)
        try await store.forgetEnds(app: app, environment: .production, through: .max)
        try await store.forgetEnds(
            app: app, environment: .sandbox, through: try #require(try await ends(app).first).number)
        let later = now.adding(milliseconds: 5)
        _ = try await store.removeApp(topic: Topic(rawValue: "com.example.todo"), at: later)
        let left = try await ends(app)
        #expect(left.first?.device == devices[1] && left.first?.endedAt == now)
        // Those that a removal ends are in no order among each other.
        #expect(Set(left.dropFirst().map { [$0.device.rawValue, UInt64($0.generation)] }) == [[1, 1], [3, 0]])
        #expect(left.dropFirst().allSatisfy { $0.endedAt == later })
        try await store.forgetEnds(app: app, environment: .sandbox, through: .max)
        #expect(try await ends(app).isEmpty)
    }

    package func `ends are read the oldest first, as many as are asked for`() async throws {
        let (app, devices) = try await register(4)
        let (other, _) = try await register(4, topic: "com.example.other")
        for device in devices {
            _ = try await store.endRegistration(device: device, app: app, environment: .sandbox, at: now)
            _ = try await store.endRegistration(device: device, app: other, environment: .sandbox, at: now)
        }
        let page = try await ends(app, limit: 3)
        #expect(page.map(\.device) == Array(devices.prefix(3)))
        #expect(page.map(\.number) == page.map(\.number).sorted())
        try await store.forgetEnds(app: app, environment: .sandbox, through: try #require(page.last).number)
        #expect(try await ends(app).map(\.device) == [devices[3]])
        #expect(try await ends(other).map(\.device) == devices)
    }
}
