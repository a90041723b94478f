import AgentEngine
import AgentProtocol
import Testing

@Suite struct WindowFocusTests {
    private var registry = AppRegistry()

    private mutating func install(_ id: BundleID, process: Int32, _ lifecycle: AppManifest.Lifecycle = .focus) {
        var manifest = AppManifest(id: id, name: id.rawValue, team: "TEAM000001", executable: "/bin/\(id)")
        manifest.lifecycle = lifecycle
        registry.apps[id] = InstalledApp(manifest: manifest, record: AppNotificationRecord())
        let connection = AppConnectionID(number: Int(process), process: process)
        _ = registry.connect(connection, as: AppRole(app: id, role: .app))
    }

    @Test mutating func `the focus is watched once there is an app that follows it`() {
        install("kiosk", process: 1, .always)
        #expect(!registry.wantsFocus)
        install("editor", process: 2)
        #expect(registry.wantsFocus)
        registry.focus = .on([])
        #expect(!registry.wantsFocus)
    }

    @Test mutating func `a window is that of the nearest app, which alone is in front`() {
        install("shell", process: 1)
        install("editor", process: 2)
        registry.focus = .on([2, 1])
        #expect(
            registry.followWindowFocus(isScreenLocked: false).map(\.state) == [.background], "the editor was active")
        #expect(registry.apps["editor"]?.isInFront == true && registry.apps["shell"]?.isInFront == false)
        #expect(registry.followWindowFocus(isScreenLocked: true).map(\.connection.process) == [2])
        registry.focus = .unknown
        #expect(registry.stateByFocus(of: "editor", isScreenLocked: false) == nil)
    }
}
