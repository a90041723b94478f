import AgentProtocol
import CoreValues
import Foundation
import Scheduling

/// The page of delivered and scheduled notifications, with everything that a person can do with them.
package struct NotificationsPage: Sendable {
    /// The highest number of characters that a reply may have, so that its form is one that the server reads.
    package static let longestReply = 800

    /// The frame of the page.
    package var layout: CenterLayout
    /// The delivered notifications, the newest last.
    package var listed: [ListedNotification]
    /// The scheduled requests in the order in which they are due.
    package var pending: [PendingNotification]
    /// How many notifications the list has, of which ``listed`` are the newest.
    package var listedCount: Int
    /// The offset from UTC at an instant, in seconds, by which times are shown.
    package var offset: @Sendable (Date) -> Int

    /// A page of these notifications.
    package init(
        layout: CenterLayout, listed: [ListedNotification], pending: [PendingNotification], listedCount: Int,
        offset: @escaping @Sendable (Date) -> Int
    ) {
        self.layout = layout
        self.listed = listed
        self.pending = pending
        self.listedCount = listedCount
        self.offset = offset
    }

    private var texts: PageTexts { layout.texts }

    /// The document.
    package var document: String {
        layout.page(texts.notifications, in: .notifications, isLive: true) {
            HTML.element("header") {
                HTML.element("h1") { texts.notifications }
                if let newest = listed.map(\.notification.date).max() {
                    layout.button(texts.dismissAll, to: "/dismiss-all", fields: [("until", "\(newest)")])
                }
            }
            if listed.isEmpty { HTML.element("p") { texts.noNotifications } }
            for item in listed.reversed() { article(item) }
            if listedCount > listed.count { HTML.element("p") { texts.older } }
            HTML.element("h2", ["id": "scheduled"]) { texts.scheduled }
            if pending.isEmpty { HTML.element("p") { texts.noScheduled } }
            for item in pending { article(item) }
        }
    }

    private func article(_ item: ListedNotification) -> HTML {
        let path = "/notifications/\(item.notification.id)"
        return HTML.element("article", ["class": item.content.interruptionLevel.rawValue]) {
            heading(item.appName, at: item.notification.date)
            text(of: item.content)
            for (index, attachment) in item.content.attachments.enumerated() where Self.isPicture(attachment) {
                HTML.void("img", ["src": "\(layout.base)\(path)/pictures/\(index)", "alt": "", "loading": "lazy"])
            }
            HTML.element("div", ["class": "actions"]) {
                layout.button(texts.open, to: path + "/open", style: "main")
                for action in item.actions { button(action, path: path + "/act") }
                layout.button(texts.dismiss, to: path + "/dismiss")
            }
        }
    }

    private func button(_ action: NotificationActionDescription, path: String) -> HTML {
        let field = (name: "action", value: EncodedName.encode(action.identifier))
        let isDestructive = action.options & NotificationActionDescription.destructive != 0
        guard let input = action.textInput else {
            return layout.button(action.title, to: path, fields: [field], style: isDestructive ? "destructive" : nil)
        }
        let label = input.buttonTitle.isEmpty ? texts.send : input.buttonTitle
        return HTML.element("form", ["method": "post", "action": layout.base + path, "class": "reply"]) {
            HTML.void("input", ["type": "hidden", "name": field.name, "value": field.value])
            HTML.element("label") {
                HTML.element("span", ["dir": "auto"]) { action.title }
                HTML.void(
                    "input",
                    [
                        "type": "text", "name": "text", "placeholder": input.placeholder, "autocomplete": "off",
                        "maxlength": "\(Self.longestReply)", "dir": "auto",
                    ])
            }
            HTML.element("button", ["dir": "auto"]) { label }
        }
    }

    private func article(_ item: PendingNotification) -> HTML {
        HTML.element("article", ["class": "scheduled"]) {
            heading(item.appName, at: nil)
            text(of: item.content)
            HTML.element("p", ["class": "due"]) {
                if !item.times.isEmpty {
                    "\(texts.nextTimes): "
                    for (index, (time, offset)) in zip(item.times, item.offsets).enumerated() {
                        if index > 0 { ", " }
                        moment(time, offset: offset)
                    }
                    HTML.void("br", [:])
                }
                item.reason
            }
            HTML.element("div", ["class": "actions"]) {
                layout.button(
                    texts.cancel, to: "/cancel",
                    fields: [
                        ("app", EncodedName.encode(item.app.rawValue)),
                        ("identifier", EncodedName.encode(item.identifier)),
                    ])
            }
        }
    }

    private func heading(_ app: String, at time: Int64?) -> HTML {
        HTML.element("p", ["class": "app"]) {
            HTML.element("bdi") { app }
            if let time {
                " "
                moment(time, offset: offset(Timestamp(rawValue: time).date))
            }
        }
    }

    private func text(of content: NotificationContent) -> HTML {
        HTML.element("div", ["class": "text"]) {
            if !content.title.isEmpty { HTML.element("h3", ["dir": "auto"]) { content.title } }
            if !content.subtitle.isEmpty {
                HTML.element("p", ["class": "subtitle", "dir": "auto"]) { content.subtitle }
            }
            if !content.body.isEmpty { HTML.element("p", ["dir": "auto"]) { content.body } }
        }
    }

    /// A time by a clock of an offset: the day and the minute.
    private func moment(_ time: Int64, offset: Int) -> HTML {
        let exact = Timestamp(rawValue: time).text(secondsFromGMT: offset)
        return HTML.element("time", ["datetime": exact]) {
            String(exact.prefix(16)).replacing("T", with: " ")
        }
    }

    /// Whether an attachment is a picture of a format that browsers show, by its uniform type identifier.
    private static func isPicture(_ attachment: NotificationAttachment) -> Bool {
        ["public.image", "public.jpeg", "public.png", "com.compuserve.gif"].contains(attachment.type)
            && attachment.hidesThumbnail != true
    }
}
