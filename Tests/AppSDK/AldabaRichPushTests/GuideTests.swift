import AgentEngine
import AgentProtocol
import AldabaTestSupport
import Foundation
import Testing

@testable import AldabaRichPush
@testable import UserNotifications

/// What the pages show is what compiles, and what is read.
struct GuideTests {
    /// The blocks of JSON in a guide.
    private func blocks(_ guide: String) throws -> [Data] {
        try Repository.text(guide).components(separatedBy: "```json\n").dropFirst()
            .map { Data(($0.components(separatedBy: "```").first ?? "").utf8) }
    }

    @Test func `the room's page shows the code that compiles here, and so does the guide`() throws {
        let page = try PageExample("NotificationService.swift")
        #expect(page.shown == page.compiled)
        let guide = try PageExample("NotificationService.swift", guide: "Docs/show-a-picture.md")
        #expect(guide.shown == guide.compiled)
    }

    @Test func `the guide's subclass is the code that compiles here`() throws {
        let example = try PageExample("ShopNotificationService.swift", guide: "Docs/change-before-seen.md")
        #expect(example.shown == example.compiled)
    }

    @Test func `the guide's manifest and payload are read as it says`() throws {
        let found = try blocks("Docs/show-a-picture.md")
        try #require(found.count == 2)
        let manifest = try AppManifest.read(found[0])
        #expect(manifest.serviceExtension?.executable == "/opt/shop/shop-service")
        let payload = try #require(try JSONSerialization.jsonObject(with: found[1]) as? [String: Any])
        #expect(PayloadMedia.all(in: payload) == [PayloadMedia(url: "https://shop.example/bread.jpg")])
        #expect(PayloadMedia.spread(in: payload) == 10)
        #expect(PayloadDelivery(payload: String(decoding: found[1], as: UTF8.self)).isMutable)
    }

    @Test(arguments: MediaFailure.Reason.allCases.filter { $0 != .unknown })
    func `the guide explains every reason`(reason: MediaFailure.Reason) throws {
        #expect(try Repository.text("Docs/show-a-picture.md").contains("`\(reason.rawValue)"))
    }

    @Test func `the guide's subclass changes what it is given`() {
        let content = UNMutableNotificationContent()
        content.title = "Bread"
        content.userInfo = ["shop": "Mill"]
        let request = UNNotificationRequest(identifier: "r", content: content, trigger: nil)
        var subtitle: String?
        ShopNotificationService().didReceive(request) { subtitle = $0.subtitle }
        #expect(subtitle == "From Mill")
    }
}
