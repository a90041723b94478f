import AldabaTestSupport
import Foundation
import Testing
import UserNotifications

struct FoundationAdditionsTests {
    @Test(arguments: [
        ("aps.alert.title", "Milk"), ("aps.badge", "3"), ("aps.alert.none", "-"), ("none.none", "-"),
        ("aps.badge.x", "-"),
        ("aps.list.n", "[1, 2]"), ("", "-"), ("aps..alert", "-"),
    ])
    func `a value is found at the end of its path`(path: String, text: String) {
        let info: [AnyHashable: Any] = [
            "aps": ["alert": ["title": "Milk"], "badge": 3, "list": [["n": 1], ["n": 2]]] as [String: Any]
        ]
        let value = (info as NSDictionary).value(forKeyPath: path)
        #expect(value.map { "\($0)" } ?? "-" == text)
    }

    @Test func `a rectangle and its dictionary are each other's, and an attachment takes it`() throws {
        let rectangle = CGRect(x: 0, y: 0.25, width: 1, height: 0.5)
        let dictionary = rectangle.dictionaryRepresentation
        #expect(dictionary["Height"] as? Double == 0.5)
        #expect(CGRect(dictionaryRepresentation: dictionary) == rectangle)
        #expect(CGRect(dictionaryRepresentation: ["X": 1]) == nil)
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("a.png")
        try Data([1]).write(to: file)
        func attachment(_ clipping: Any) throws -> UNNotificationAttachment {
            try UNNotificationAttachment(
                identifier: "a", url: file,
                options: [UNNotificationAttachmentOptionsThumbnailClippingRectKey: clipping])
        }
        #expect(try attachment(dictionary) == attachment(rectangle))
    }
}
