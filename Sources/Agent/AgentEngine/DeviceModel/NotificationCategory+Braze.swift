import AgentProtocol

extension NotificationCategory {
    /// The default categories of Braze, with the identifiers and titles of its REST API ("Apple push action button
    /// object"). On iOS its SDK registers them; here they exist unless the app sets others of these identifiers.
    static let ofBraze = [
        braze("accept_decline", [("accept", "Accept"), ("decline", "Decline")]),
        braze("yes_no", [("yes", "Yes"), ("no", "No")]),
        braze("confirm_cancel", [("confirm", "Confirm"), ("cancel", "Cancel")]), braze("more", [("more", "More")]),
    ]

    /// A category whose first button opens the app, and whose second one closes the notification.
    private static func braze(_ name: String, _ buttons: [(name: String, title: String)]) -> NotificationCategory {
        NotificationCategory(
            identifier: "ab_cat_\(name)",
            actions: buttons.enumerated().map { place, button in
                NotificationActionDescription(
                    identifier: "ab_pb_\(button.name)", title: button.title,
                    options: place == 0 ? NotificationActionDescription.foreground : 0)
            })
    }
}
