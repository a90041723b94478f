import AgentProtocol
import Foundation
import Testing

@testable import CenterPages

private let layout = CenterLayout(base: "/run", language: .english)

private func listed(_ id: Int64, _ title: String, actions: [NotificationActionDescription] = []) -> ListedNotification {
    var content = NotificationContent()
    content.title = title
    content.attachments = [
        NotificationAttachment(identifier: "film", path: "/film", type: "public.mpeg-4"),
        NotificationAttachment(identifier: "photo", path: "/photo", type: "public.jpeg"),
    ]
    return ListedNotification(
        appName: "Todo",
        notification: DeliveredNotification(
            id: id, identifier: "x", apnsID: nil, topic: "com.example.todo", date: 1_700_000_000_000 + id,
            payload: "{}"),
        content: content, actions: actions)
}

private func page(
    _ items: [ListedNotification], pending: [PendingNotification] = [], count: Int? = nil,
    in language: PageLanguage = .english
) -> String {
    NotificationsPage(
        layout: CenterLayout(base: "/run", language: language), listed: items, pending: pending,
        listedCount: count ?? items.count, offset: { _ in 3600 }
    ).document
}

@Test func `the newest notification comes first, with its time, its picture and its buttons`() throws {
    let reply = NotificationActionDescription(
        identifier: "say\"", title: "Answer <b>", textInput: .init(buttonTitle: "", placeholder: "When?"))
    let delete = NotificationActionDescription(
        identifier: "delete", title: "Delete", options: NotificationActionDescription.destructive)
    let text = page([listed(1, "Old"), listed(-2, "<script>alert(1)</script>", actions: [reply, delete])])
    let new = try #require(text.range(of: "&lt;script&gt;alert(1)&lt;/script&gt;"))
    #expect(new.lowerBound < (try #require(text.range(of: "Old"))).lowerBound)
    #expect(text.contains("<time datetime=\"2023-11-14T23:13:20+01:00\">2023-11-14 23:13</time>"))
    #expect(text.contains("src=\"/run/notifications/-2/pictures/1\""))
    #expect(!text.contains("pictures/0"), "a film is no picture")
    #expect(text.contains("action=\"/run/notifications/-2/act\" class=\"reply\""))
    #expect(text.contains("Answer &lt;b&gt;") && text.contains("placeholder=\"When?\""))
    #expect(text.contains("value=\"\(EncodedName.encode("say\""))\""))
    #expect(text.contains("<button class=\"destructive\" dir=\"auto\">Delete</button>"))
    #expect(text.contains("name=\"until\" value=\"1700000000001\""))
}

@Test func `older notifications that are not shown are mentioned, and an empty list says so`() {
    #expect(page([listed(1, "One")], count: 2).contains("Older notifications are not shown"))
    #expect(!page([listed(1, "One")]).contains("Older notifications are not shown"))
    #expect(page([]).contains("No notifications.") && !page([]).contains("dismiss-all"))
    #expect(page([], in: .spanish).contains("<html lang=\"es\">"))
    #expect(page([], in: .spanish).contains("No hay nada programado."))
}

@Test func `a scheduled notification shows its times by their clocks and its reason, and can be cancelled`() {
    let waiting = PendingNotification(
        app: "com.example.todo", appName: "Todo", content: NotificationContent(), identifier: "a\r\nb",
        times: [1_700_000_000_000, 1_700_003_600_000], offsets: [0, 7200], reason: "every hour & more", fired: 0)
    let text = page([], pending: [waiting])
    #expect(text.contains(">2023-11-14 22:13</time>, <time"))
    #expect(text.contains(">2023-11-15 01:13</time>"))
    #expect(text.contains("every hour &amp; more"))
    #expect(text.contains("name=\"identifier\" value=\"\(EncodedName.encode("a\r\nb"))\""))
}

@Test func `a page has no script or style inside, and the launcher no referrer`() {
    let texts = [
        page([listed(1, "One")]), layout.failure("no"), layout.redirectPage(),
        CenterLayout.unauthorizedPage(language: .english),
    ]
    for text in texts {
        #expect(!text.contains("<style") && !text.contains(" style=") && !text.contains(#/ on[a-z]+=/#))
        #expect(!text.contains("<script>") && !text.contains("javascript:"))
    }
    #expect(!CenterLayout.unauthorizedPage(language: .english).contains("/run"))
    #expect(CenterLayout.launcher(to: "http://127.0.0.1:1/a/?token=b").contains("content=\"no-referrer\""))
}

private let settings: [ManagementAnswer.Setting] = [
    .init(name: "allowed", value: "yes", allowed: ["yes"]), .init(name: "alerts", value: "on", allowed: ["on", "off"]),
    .init(name: "critical", value: "off", allowed: ["on", "off"]),
    .init(name: "style", value: "alert", allowed: ["none", "banner", "alert"]),
    .init(name: "missed-hours", value: "24", allowed: ["a number of hours from 1 to 8760"]),
    .init(name: "new-one", value: "a", allowed: ["a", "b"]),
]

@Test func `each setting has the field of its kind, and the value that it has now`() {
    let app = AgentStatus.App(
        id: "com.example.todo", name: "To \u{202E}do", isConnected: true, authorization: 2, listed: 1, badge: 3)
    let text = SettingsPages(layout: layout).app(app, settings: settings)
    #expect(text.contains("<select name=\"allowed\" disabled=\"\"><option value=\"yes\" selected=\"\">Yes</option>"))
    #expect(text.contains("name=\"alerts\" value=\"on\" checked=\"\""))
    #expect(text.contains("name=\"critical\" value=\"on\">"))
    #expect(text.contains("<option value=\"alert\" selected=\"\">Alert, stays until answered</option>"))
    #expect(text.contains("<input type=\"text\" name=\"missed-hours\" value=\"24\""))
    #expect(text.contains("<span>new-one</span>"), "a setting of a newer agent is shown by its name")
    #expect(text.contains("<bdi>To ⟨U+202E⟩do</bdi>"))
    let list = SettingsPages(layout: layout).apps([app], shared: [], isSaved: true)
    #expect(list.contains("href=\"/run\(SettingsPages.path(of: "com.example.todo"))\""))
    #expect(list.contains("Allow notifications: Yes") && list.contains("Saved."))
}

@Test(
    arguments: [
        ([("before.alerts", "on"), ("alerts", "on")], [:]),
        ([("before.alerts", "on")], ["alerts": "off"]),
        ([("before.critical", "off"), ("critical", "on")], ["critical": "on"]),
        ([("before.critical", "off")], [:]),
        ([("before.allowed", "yes")], [:]),
        ([("before.style", "alert"), ("style", "none"), ("other", "x")], ["style": "none"]),
    ] as [([(String, String)], [String: String])])
func `a form changes what differs from what it showed`(fields: [(String, String)], changes: [String: String]) {
    #expect(SettingChanges.of(fields.map { (name: $0.0, value: $0.1) }) == changes)
}

@Test func `both languages name every setting and value`() {
    let (english, spanish) = (PageTexts.english, PageTexts.spanish)
    #expect(Set(english.settingNames.keys) == Set(spanish.settingNames.keys))
    #expect(Set(english.valueNames.keys) == Set(spanish.valueNames.keys))
}
