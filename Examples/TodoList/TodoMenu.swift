import Course
import UserNotifications

/// The list's menu. An app has no window here, so that its menu is a notification, and its buttons are the menu's items.
@MainActor
struct TodoMenu {
    nonisolated static let identifier = "menu"

    private enum Item {
        static let ask = "ask"
        static let remind = "remind"
    }

    /// What a person wants of the list.
    enum Wish: Equatable {
        case ask
        case remind(TimeOfDay)
        /// They wrote what is no time of day.
        case noTime(String)
        case nothing
    }

    static var category: UNNotificationCategory {
        UNNotificationCategory(
            identifier: identifier,
            actions: [
                UNNotificationAction(identifier: Item.ask, title: "Ask me"),
                UNTextInputNotificationAction(
                    identifier: Item.remind, title: "Remind me", options: [], textInputButtonTitle: "Set",
                    textInputPlaceholder: "18:30"),
            ], intentIdentifiers: [])
    }

    /// Shows the menu, in place of an earlier one.
    static func show(items: Int, _ sentence: String?) async {
        let content = UNMutableNotificationContent()
        content.title = "To-do list"
        content.body = ["\(items) to do", sentence].compactMap { $0 }.joined(separator: ". ")
        content.categoryIdentifier = identifier
        await Terminal.trying("menu") {
            try await UNUserNotificationCenter.current().add(
                UNNotificationRequest(identifier: identifier, content: content, trigger: nil))
        }
    }

    static func wish(_ choice: Choice) -> Wish {
        switch choice {
        case .pressed(Item.ask): .ask
        case .wrote(let text, Item.remind): TimeOfDay(text).map(Wish.remind) ?? .noTime(text)
        default: .nothing
        }
    }
}
