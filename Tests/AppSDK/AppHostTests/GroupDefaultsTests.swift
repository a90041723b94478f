import Foundation
import Testing

@testable import AppHost

/// Defaults that two processes share. The other process is played by its writes to the suite's file.
struct GroupDefaultsTests {
    @Test func `the groups are those of the app's manifest`() {
        #expect(GroupDefaults.named(in: ["ALDABA_APP_GROUPS": "group.a:group.b"]) == ["group.a", "group.b"])
        #expect(GroupDefaults.named(in: [:]) == [] && GroupDefaults.named(in: ["ALDABA_APP_GROUPS": ""]) == [])
    }

    @Test func `what was set is written, and what another process set is read`() throws {
        let group = "group.aldaba-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: group))
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
        let file = URL(fileURLWithPath: "\(folder)/\(group).plist")
        defer { try? FileManager.default.removeItem(at: file) }

        defaults.set(1, forKey: "app")
        GroupDefaults.synchronize([group])
        let written = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        #expect(written as? [String: Int] == ["app": 1])
        let other = try PropertyListSerialization.data(
            fromPropertyList: ["app": 2, "extension": 3], format: .xml, options: 0)
        try other.write(to: file)
        #expect(defaults.integer(forKey: "app") == 1, "Foundation reads by itself now: this type is needed no more")
        GroupDefaults.synchronize([group])
        #expect(defaults.integer(forKey: "app") == 2 && defaults.integer(forKey: "extension") == 3)
    }
}
