import UserNotifications

/// The kinds of notification of the course's app, with their buttons.
public enum Categories {
    /// Something to do.
    public static let toDo = "to-do"

    /// The identifiers of its buttons.
    public enum Action {
        /// It is done.
        public static let done = "done"
        /// Opens the app.
        public static let show = "show"
        /// A text about it.
        public static let note = "note"
    }

    /// All of them, to be set once at the start.
    public static var all: Set<UNNotificationCategory> {
        let done = UNNotificationAction(identifier: Action.done, title: "Done")
        let show = UNNotificationAction(identifier: Action.show, title: "Show", options: .foreground)
        let note = UNTextInputNotificationAction(
            identifier: Action.note, title: "Note", options: [], textInputButtonTitle: "Keep",
            textInputPlaceholder: "What about it?")
        return [
            UNNotificationCategory(
                identifier: toDo, actions: [done, show, note], intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: "Something to do", options: .customDismissAction)
        ]
    }
}
