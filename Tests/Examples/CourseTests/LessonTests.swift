import CoreLocation
import Foundation
import Testing
import UIKit

@testable import Course
@testable import UserNotifications

@Test func `a device token is written as 64 digits`() async {
    let text = await Registration.text(of: Data((0..<32).map { UInt8($0) }))
    #expect(text.count == 64 && text.hasPrefix("000102") && text.hasSuffix("1e1f"))
}

@Test(
    arguments: [
        (.notDetermined, .enabled, .enabled, .notAsked), (.denied, .enabled, .enabled, .nowhere),
        (.provisional, .enabled, .enabled, .list), (.authorized, .disabled, .enabled, .list),
        (.authorized, .enabled, .disabled, .screen(sound: false)),
        (.authorized, .enabled, .enabled, .screen(sound: true)),
    ] as [(UNAuthorizationStatus, UNNotificationSetting, UNNotificationSetting, Reach)])
func `the settings say how far a notification comes`(
    status: UNAuthorizationStatus, alert: UNNotificationSetting, sound: UNNotificationSetting, reach: Reach
) {
    #expect(Reach(status, alert: alert, sound: sound) == reach)
}

@Test func `a content has every part`() throws {
    let picture = try DrawnImage(width: 2, height: 2, colour: .init(1, 2, 3)).attachment("picture")
    defer { try? FileManager.default.removeItem(at: picture.url) }
    let content = LessonContent.make(toDo: "Buy milk", list: "Shopping", open: 3, picture: picture)
    #expect(content.title == "Buy milk" && content.subtitle == "Shopping" && content.body == "One of 3 things to do.")
    #expect(content.badge == 3 && content.sound == .default && content.threadIdentifier == "Shopping")
    #expect(content.categoryIdentifier == Categories.toDo && content.userInfo["item"] as? String == "Buy milk")
    #expect(content.attachments.map(\.identifier) == ["picture"] && content.attachments.first?.type == "public.png")
    #expect(LessonContent.make(toDo: "Rest", list: "Shopping", open: 1).attachments.isEmpty)
}

@Test func `the three triggers say when`() throws {
    let soon = Triggers.after(seconds: 5, repeats: true)
    #expect(soon.timeInterval == 5 && !soon.repeats, "what repeats takes a minute at least")
    #expect(Triggers.after(seconds: 60, repeats: true).repeats)
    let evening = Triggers.at(try #require(TimeOfDay("18:30")), everyDay: true)
    #expect(evening.dateComponents == DateComponents(hour: 18, minute: 30) && evening.repeats)
    let next = try #require(evening.nextTriggerDate())
    let shown = Calendar.current.dateComponents([.hour, .minute], from: next)
    #expect(shown.hour == 18 && shown.minute == 30)
    let shop = Triggers.arriving(latitude: 52.52, longitude: 13.405, metres: 200)
    #expect(shop.region.notifyOnEntry && !shop.region.notifyOnExit)
    #expect((shop.region as? CLCircularRegion)?.radius == 200)
}

@Test(arguments: [("18:30", "18:30"), ("7:05", "07:05"), (" 00:00\n", "00:00"), ("23:59", "23:59")])
func `a person writes a time of day`(text: String, time: String) {
    #expect(TimeOfDay(text)?.description == time)
}

@Test(arguments: [
    "", ":", "18", "18:", "18:3", "24:00", "18:60", "-1:30", "+1:30", "118:30", "18:30:00", "٠٧:٠٥", "half past six",
])
func `what no clock shows is no time of day`(text: String) {
    #expect(TimeOfDay(text) == nil)
}

@Test func `a category has its buttons and the field for a text`() throws {
    let category = try #require(Categories.all.first)
    #expect(category.actions.map(\.identifier) == ["done", "show", "note"])
    #expect(category.actions[1].options == .foreground && category.options == .customDismissAction)
    #expect((category.actions[2] as? UNTextInputNotificationAction)?.textInputButtonTitle == "Keep")
}
