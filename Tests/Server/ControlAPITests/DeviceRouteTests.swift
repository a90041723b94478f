import APNsProtocol
import PushCore
import StoreMemory
import Synchronization
import Testing

@testable import ControlAPI
@testable import PushServer

/// The sessions of devices, and those that were ended.
private final class Sessions: DeviceSessions {
    let ended = Mutex<[DeviceID]>([])

    func session(of device: DeviceID) async -> ConnectedSession? {
        ConnectedSession(since: Timestamp(rawValue: 1_800_000_000_000), network: "192.0.2.0/24")
    }

    func endSessions(of devices: [DeviceID]) { ended.withLock { $0 += devices } }
}

@Suite struct DeviceRouteTests {
    private static let now = Timestamp(rawValue: 1_800_000_000_000)
    // 5 is neither 0 nor beyond Int64.max, so it is an id.
    private static let device = DeviceID(5)!
    private let store = MemoryStore()
    private let sessions = Sessions()

    private func services(_ sealer: DeviceTokenSealer) async throws -> ControlServices {
        #expect(try await store.addDevice(Self.device, secretHash: [1], at: Self.now))
        let app = try await store.addApp(
            topic: Topic(rawValue: "com.example.a"), team: FakeServer.team, policy: .init(), at: Self.now)
        _ = try await store.register(device: Self.device, app: app.id, environment: .sandbox, at: Self.now)
        var services = FakeServer().services(.open)
        services.interfaces = [
            DeviceInterface(
                store: store, register: store, authentication: FakeServer(), sealer: sealer, cell: 0,
                sessions: sessions, clock: { Self.now })
        ]
        return services
    }

    /// The status of a change, and the device's state after it.
    private func change(_ word: String, _ listener: RunningListener) async throws -> String {
        let answer = try await listener.send("POST", "/v1/devices/5/\(word)")
        return "\(answer.status) \(try JSONValue(answer.bytes)["state"]?.text ?? "")"
    }

    @Test func `a device is told with its connection and the tokens of its apps`() async throws {
        let sealer = try #require(DeviceTokenSealer(keys: [Array(repeating: 7, count: 32)]))
        try await withListener(.development(try await services(sealer))) { listener in
            let json = try JSONValue(try await listener.send("GET", "/v1/devices/5").bytes)
            #expect(json["state"]?.text == "active" && json["connection"]?["network"]?.text == "192.0.2.0/24")
            let app = try #require(json["apps"]?.items?.first)
            #expect(app["topic"]?.text == "com.example.a" && app["waiting"]?.integer == 0)
            let token = try #require(DeviceToken(text: app["token"]?.text ?? ""))
            #expect(sealer.open(token)?.device == Self.device)
            #expect(try await listener.send("GET", "/v1/devices/6").status == 404)
            #expect(try await listener.send("GET", "/v1/devices/six").status == 400)
        }
    }

    @Test func `a device is blocked, unblocked and revoked, and its session ends`() async throws {
        let sealer = try #require(DeviceTokenSealer(keys: [Array(repeating: 7, count: 32)]))
        try await withListener(.development(try await services(sealer))) { listener in
            let block = try await change("block", listener)
            #expect(block == "200 blocked")
            let isBlocked = try await store.isBlocked(Self.device)
            #expect(isBlocked)
            let again = try await change("block", listener)
            #expect(again.hasPrefix("409"))
            let unblock = try await change("unblock", listener)
            #expect(unblock == "200 active")
            let revoke = try await change("revoke", listener)
            #expect(revoke == "200 revoked")
            let late = try await change("unblock", listener)
            #expect(late.hasPrefix("409"))
            let unknown = try await listener.send("POST", "/v1/devices/6/revoke")
            #expect(unknown.status == 404)
        }
        let ended = sessions.ended.withLock { $0 }
        #expect(ended == [Self.device, Self.device])
    }
}
