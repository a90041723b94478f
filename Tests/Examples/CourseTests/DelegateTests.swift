import AgentProtocol
import AppHost
import Foundation
import Testing
import UIKit

@testable import Course
@testable import UserNotifications

/// An answer to a notification of the app's own.
private func response(_ action: String, _ text: String? = nil) -> UNNotificationResponse {
    var content = NotificationContent()
    content.userInfo = .json(#"{"item":"Buy milk"}"#)
    var notification = DeliveredNotification(
        id: -1, identifier: "n", apnsID: nil, topic: "t", date: 0, payload: "{}")
    notification.content = content
    return UNNotificationResponse.made(
        of: DeliveredResponse(id: 1, notification: notification, action: action, userText: text))
}

@Test(
    arguments: [
        (UNNotificationDefaultActionIdentifier, nil, .opened), (UNNotificationDismissActionIdentifier, nil, .dismissed),
        ("done", nil, .pressed("done")), ("note", "two litres", .wrote("two litres", action: "note")),
    ] as [(String, String?, Choice)])
@MainActor
func `the delegate tells what a person chose, and of what`(action: String, text: String?, choice: Choice) async {
    var told: [(Choice, String?)] = []
    let delegate = LessonDelegate { told.append(($0, $1["item"] as? String)) }
    await delegate.userNotificationCenter(.current(), didReceive: response(action, text))
    #expect(told.count == 1 && told.first?.0 == choice && told.first?.1 == "Buy milk")
}

@Test @MainActor func `in front a notification is shown all the same`() async {
    let options = await LessonDelegate { _, _ in }.userNotificationCenter(
        .current(), willPresent: response("done").notification)
    #expect(options == [.banner, .list, .sound])
}

@Test @MainActor func `a tap on news that was fetched does not fetch it again`() async {
    var fetched: [String] = []
    let update = BackgroundUpdate { name in
        fetched.append(name)
        return true
    }
    let news: [AnyHashable: Any] = ["news": "7", "aps": ["content-available": 1, "alert": "News"]]
    #expect(await update.update(news) == .newData)
    #expect(await update.update(news) == .noData)
    #expect(await update.update(["news": "8"]) == .newData)
    #expect(await update.update(["aps": ["content-available": 1]]) == .noData)
    #expect(fetched == ["7", "8"])
}

@Test @MainActor func `a tap while the news is being fetched waits for nothing`() async {
    var update: BackgroundUpdate?
    var second: UIBackgroundFetchResult?
    var count = 0
    update = BackgroundUpdate { name in
        count += 1
        second = await update?.update(["news": name])
        return true
    }
    #expect(await update?.update(["news": "7"]) == .newData)
    #expect(second == .noData && count == 1)
}

@Test @MainActor func `what failed may be fetched again, and only so many names are kept`() async {
    struct Offline: Error {}
    var isOffline = true
    var count = 0
    let update = BackgroundUpdate(limit: 2) { _ in
        if isOffline { throw Offline() }
        count += 1
        return true
    }
    #expect(await update.update(["news": "1"]) == .failed)
    isOffline = false
    for name in ["1", "2", "3"] { #expect(await update.update(["news": name]) == .newData) }
    #expect(await update.update(["news": "1"]) == .newData, "the oldest was forgotten")
    #expect(await update.update(["news": "3"]) == .noData)
    #expect(count == 4)
}
