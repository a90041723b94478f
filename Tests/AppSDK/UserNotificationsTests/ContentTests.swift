import AgentProtocol
import Foundation
import Testing

@testable import UserNotifications

struct ContentTests {
    private static let changes: [@Sendable (UNMutableNotificationContent) -> Void] = [
        { $0.title = "x" }, { $0.subtitle = "x" }, { $0.body = "x" }, { $0.badge = 0 }, { $0.sound = .default },
        { $0.launchImageName = "x" }, { $0.userInfo = ["k": 1] }, { $0.categoryIdentifier = "x" },
        { $0.threadIdentifier = "x" }, { $0.targetContentIdentifier = "" }, { $0.interruptionLevel = .passive },
        { $0.relevanceScore = 0.5 }, { $0.filterCriteria = "x" },
        { $0.title = NSString.localizedUserNotificationString(forKey: "k", arguments: nil) },
    ]

    @Test(arguments: changes.indices)
    func `every member makes contents differ, and a copy equals its original`(index: Int) throws {
        let content = UNMutableNotificationContent()
        #expect(content == UNNotificationContent() && UNNotificationContent() == content)
        Self.changes[index](content)
        #expect(content != UNNotificationContent())
        let frozen = try #require(content.copy() as? UNNotificationContent)
        #expect(frozen == content && content == frozen && frozen.hash == content.hash)
        #expect(type(of: frozen) == UNNotificationContent.self)
        #expect((frozen.mutableCopy() as? UNMutableNotificationContent) == content)
    }

    @Test(arguments: [(0.5, 0.5), (-1, 0), (2, 1), (.nan, 0), (.infinity, 1)])
    func `a relevance score is brought inside of 0 to 1`(given: Double, kept: Double) {
        let content = UNMutableNotificationContent()
        content.relevanceScore = given
        #expect(content.relevanceScore == kept)
    }

    @Test func `a localized text keeps its key and arguments, and shows them until it is delivered`() throws {
        let content = UNMutableNotificationContent()
        content.title = NSString.localizedUserNotificationString(forKey: "HELLO %@, %d", arguments: ["Ada", 3])
        content.subtitle = String.localizedUserNotificationString(forKey: "PLAIN", arguments: nil)
        content.body = "as it is"
        #expect([content.title, content.subtitle, content.body] == ["HELLO Ada, 3", "PLAIN", "as it is"])
        let wire = try content.values.forWire()
        #expect(wire.titleLocalization == .init(key: "HELLO %@, %d", arguments: ["Ada", "3"]))
        #expect(wire.subtitleLocalization == .init(key: "PLAIN") && wire.bodyLocalization == nil)
        content.title = "plain again"
        #expect(try content.values.forWire().titleLocalization == nil)
    }

    @Test(arguments: [
        ("50% off", nil, "50% off"), ("50% off", [], "50% off"), ("100%% sure", nil, "100%% sure"),
        ("%d%% off", [50], "50% off"),
    ])
    func `without arguments a key that is not found is the text itself`(key: String, arguments: [Int]?, text: String) {
        let content = UNMutableNotificationContent()
        content.body = NSString.localizedUserNotificationString(forKey: key, arguments: arguments)
        #expect(content.body == text)
    }

    @Test(arguments: [
        ("%@ and %@", ["a", "b"], "a and b"), ("%2$@ before %1$@", ["a", "b"], "b before a"),
        ("%d%%, %5.2f, %lu", ["1", "2", "3"], "1%, 2, 3"), ("%@ %@", ["a"], "a "), ("100%", [], "100%"),
        ("%", ["a"], "%"), ("% y", ["a"], "% y"), ("%1$s%1$s", ["é"], "éé"), ("plain", ["a"], "plain"),
        ("%99$@.", ["a"], "."),
    ])
    func `a format is filled by position or by order, whatever its conversions`(
        format: String, arguments: [String], text: String
    ) {
        #expect(LocalizedText.filled(format, with: arguments) == text)
    }

    @Test func `content cannot be updated from an intent, and says so`() {
        final class Provider: NSObject, UNNotificationContentProviding {}
        #expect { try UNNotificationContent().updating(from: Provider()) } throws: {
            ($0 as? UNError)?.code == .contentProvidingObjectNotAllowed
        }
    }

    @Test(arguments: [
        (1, UNError.notificationsNotAllowed), (100, UNError.attachmentInvalidURL),
        (101, UNError.attachmentUnrecognizedType), (102, UNError.attachmentInvalidFileSize),
        (103, UNError.attachmentNotInDataStore), (104, UNError.attachmentMoveIntoDataStoreFailed),
        (105, UNError.attachmentCorrupt), (1400, UNError.notificationInvalidNoDate),
        (1401, UNError.notificationInvalidNoContent), (1500, UNError.contentProvidingObjectNotAllowed),
        (1501, UNError.contentProvidingInvalid), (1600, UNError.badgeInputInvalid),
    ])
    func `every error has Apple's number and is caught by its code`(number: Int, code: UNError.Code) {
        #expect(code.rawValue == number)
        let error: any Error = UNError(code)
        #expect(code ~= error && (error as NSError).code == number && (error as NSError).domain == "UNErrorDomain")
        do { throw error } catch code {} catch { Issue.record("not caught by its code: \(error)") }
    }
}
