import AldabaTestSupport
import Foundation
import Testing
import UIKit
import UserNotifications

/// The files of `Docs/move-an-ios-app.md`, as its edits leave them, are those that this target compiles.
@MainActor @Suite struct MovedAppTests {
    /// A file of the page: what its block of `diff` leaves when the edits are made.
    private struct Edited: Equatable {
        var name: String
        var text: String
    }

    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private func edited() throws -> [Edited] {
        let page = Repository.root.appendingPathComponent("Docs/move-an-ios-app.md")
        var files: [Edited] = []
        var isInside = false
        for line in try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n") {
            switch line {
            case "```diff": isInside = true
            case "```": isInside = false
            case _ where !isInside: break
            case _ where line.hasPrefix("// "): files.append(Edited(name: String(line.dropFirst(3)), text: ""))
            case _ where line.hasPrefix("-"): break
            default: files[files.count - 1].text += line.dropFirst() + "\n"
            }
        }
        return files
    }

    @Test func `what the page's edits leave is what compiles here`() throws {
        let files = try edited()
        #expect(
            files.map(\.name).sorted() == [
                "FerryService.swift", "HarbourAppDelegate.swift", "PierBadge.swift", "Timetable.swift",
            ])
        for file in files {
            let compiled = try String(
                contentsOf: Self.tests.appendingPathComponent("Examples/\(file.name)"), encoding: .utf8)
            #expect(compiled == file.text, "\(file.name)")
        }
    }

    @Test func `the moved classes are made as the main function makes them`() {
        let delegate: any UIApplicationDelegate.Type = HarbourAppDelegate.self
        #expect(delegate is UIResponder.Type)
        let content = UNMutableNotificationContent()
        content.title = "The ferry is here"
        content.userInfo = ["ferry": "Argo"]
        let request = UNNotificationRequest(identifier: "ferry", content: content, trigger: nil)
        var shown: UNNotificationContent?
        FerryService().didReceive(request) { shown = $0 }
        #expect(shown?.title == "The ferry is here")
        #expect(shown?.subtitle == "Argo")
    }
}
