import AppHost
import Foundation
import Testing

@testable import UserNotifications

final class GroupFolderTests {
    private let folder = NSTemporaryDirectory() + "aldaba-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func place(_ group: String, groups: String? = nil) -> String? {
        var environment = ["XDG_DATA_HOME": folder]
        environment["ALDABA_APP_GROUPS"] = groups
        return GroupFolder.path(of: group, environment: environment)
    }

    @Test func `a group has a folder of its own, which is this user's alone`() throws {
        let path = try #require(place("group.com.example.todo"))
        #expect(path == "\(folder)/aldaba/groups/group.com.example.todo")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test(arguments: [
        "", "com.example", "group.", "group./../../x", "group..\u{0}", "group.ü", "group.a/b",
        "group." + String(repeating: "a", count: 250),
    ])
    func `what names no group has none`(group: String) { #expect(place(group) == nil) }

    @Test func `an app that the agent started has the groups of its manifest alone`() {
        #expect(place("group.a", groups: "group.b:group.a") != nil)
        #expect(place("group.a", groups: "group.ab") == nil)
        #expect(place("group.a", groups: "") == nil)
    }

    @Test func `the method of Apple's is there`() {
        #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "no group") == nil)
    }
}
