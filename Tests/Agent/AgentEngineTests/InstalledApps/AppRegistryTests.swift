import AgentProtocol
import Testing

@testable import AgentEngine

struct AppRegistryTests {
    private static let app: BundleID = "com.example.todo"

    private func registry() -> AppRegistry {
        var registry = AppRegistry()
        let manifest = AppManifest(id: Self.app, name: "Todo", team: "TEAM000001", executable: "/bin/todo")
        registry.apps[Self.app] = InstalledApp(manifest: manifest, record: AppNotificationRecord())
        return registry
    }

    private func connection(_ process: Int32) -> AppConnectionID {
        AppConnectionID(number: Int(process), process: process)
    }

    private func role(_ role: ConnectionRole) -> AppRole { AppRole(app: Self.app, role: role) }

    @Test func `a newer connection takes a role from the older one`() {
        var registry = registry()
        let (older, newer) = (connection(1), connection(2))
        #expect(registry.connect(older, as: role(.app)) == nil)
        #expect(registry.connect(newer, as: role(.app)) == older)
        #expect(registry.role(of: older) == nil)
        #expect(registry.disconnect(older) == nil, "its end is not the app's")
        #expect(registry.apps[Self.app]?.connection == newer)
    }

    @Test func `a companion takes nothing from the app`() {
        var registry = registry()
        let (app, companion) = (connection(1), connection(2))
        _ = registry.connect(app, as: role(.app))
        #expect(registry.connect(companion, as: role(.serviceExtension)) == nil)
        #expect(registry.apps[Self.app]?.connection == app)
        #expect(registry.disconnect(companion) == role(.serviceExtension))
        #expect(registry.apps[Self.app]?.companions.isEmpty == true)
        #expect(registry.role(of: app) == role(.app))
    }

    @Test func `each process of an app relays for itself, up to a limit`() {
        var registry = registry()
        for process in Int32(1)...16 {
            #expect(registry.connect(connection(process), as: role(.relayService)) == nil)
        }
        let again = AppConnectionID(number: 20, process: 2)
        #expect(registry.connect(again, as: role(.relayService)) == connection(2), "its process has reconnected")
        #expect(registry.connect(connection(21), as: role(.relayService)) == connection(1), "the oldest ends")
        #expect(registry.role(of: connection(1)) == nil && registry.role(of: connection(3)) == role(.relayService))
        #expect(registry.disconnect(connection(3)) == role(.relayService))
        #expect(registry.connect(connection(22), as: role(.relayService)) == nil)
    }

    @Test func `an app that goes has no connection with a role any more`() {
        var registry = registry()
        let (app, companion) = (connection(1), connection(2))
        _ = registry.connect(app, as: role(.app))
        _ = registry.connect(companion, as: role(.terminal))
        #expect(registry.releaseConnections(of: Self.app).count == 2)
        #expect(registry.role(of: app) == nil && registry.role(of: companion) == nil)
    }

    @Test func `no two deadlines have one name, whatever apps they are of`() {
        var registry = registry()
        let first = registry.awaitReconnect(of: Self.app)
        registry.apps[Self.app] = nil
        #expect(registry.awaitReconnect(of: Self.app) != first)
    }

    @Test func `manifests are read when their folder has changed, and an app must be missing twice`() {
        var registry = registry()
        #expect(registry.updateFingerprint(["a"]) == true)
        #expect(registry.updateFingerprint(["a"]) == false)
        registry.forgetManifests()
        #expect(registry.updateFingerprint(["a"]) == true)
        #expect(registry.noteMissing(Self.app) == true)
        #expect(registry.noteMissing(Self.app) == false)
        registry.endMissing(Self.app)
        #expect(!registry.isMissing(Self.app))
    }
}
