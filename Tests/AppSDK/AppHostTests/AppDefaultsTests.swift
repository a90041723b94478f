import Foundation
import Testing

@testable import AppHost

/// Defaults that two processes share, and those of an app that ends. The other process of a group is played by its
/// writes to the suite's file.
@Suite(.serialized) struct AppDefaultsTests {
    @Test func `the groups are those of the app's manifest`() {
        #expect(AppDefaults.named(in: ["ALDABA_APP_GROUPS": "group.a:group.b"]) == ["group.a", "group.b"])
        #expect(AppDefaults.named(in: [:]) == [] && AppDefaults.named(in: ["ALDABA_APP_GROUPS": ""]) == [])
    }

    @Test func `what was set is written, and what another process set is read`() throws {
        let group = "group.aldaba-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: group))
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
        let file = URL(fileURLWithPath: "\(folder)/\(group).plist")
        defer { try? FileManager.default.removeItem(at: file) }

        defaults.set(1, forKey: "app")
        AppDefaults.synchronize([group])
        let written = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        #expect(written as? [String: Int] == ["app": 1])
        let other = try PropertyListSerialization.data(
            fromPropertyList: ["app": 2, "extension": 3], format: .xml, options: 0)
        try other.write(to: file)
        AppDefaults.synchronize([group])
        #expect(defaults.integer(forKey: "app") == 2 && defaults.integer(forKey: "extension") == 3)
    }

    @Test func `what an app set is on disk when it crashes a second later`() async {
        let mark = UUID().uuidString
        await #expect(processExitsWith: .signal(SIGKILL)) { [mark = mark as String] in
            AppDefaults.keep()
            UserDefaults.standard.set("soup", forKey: mark)
            let end = ContinuousClock.now + .seconds(20)
            while !isOnDisk(mark), ContinuousClock.now < end { await Task.yield() }
            kill(getpid(), SIGKILL)
        }
        #expect(isOnDisk(mark))
        forget(mark)
    }

    @Test func `what an app set is on disk when it exits at once`() async {
        let mark = UUID().uuidString
        await #expect(processExitsWith: .exitCode(0)) { [mark = mark as String] in
            AppDefaults.keep()
            UserDefaults.standard.set("soup", forKey: mark)
            exit(0)
        }
        #expect(isOnDisk(mark))
        forget(mark)
    }
}

/// Whether the file of this program's own defaults has the key.
private func isOnDisk(_ key: String) -> Bool {
    let folder = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
    let file = URL(fileURLWithPath: "\(folder)/\(ProcessInfo.processInfo.processName).plist")
    let values = try? PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
    return (values as? [String: Any])?[key] != nil
}

/// Leaves the defaults as they were before the test.
private func forget(_ key: String) {
    UserDefaults.standard.synchronize()
    UserDefaults.standard.removeObject(forKey: key)
    UserDefaults.standard.synchronize()
}
