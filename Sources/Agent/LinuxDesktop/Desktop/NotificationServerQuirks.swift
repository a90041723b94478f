/// The departures of a notification server from the specification, or from other servers, by its name. Each was
/// observed on the server itself (`Tests/Interop/test_desktop_habits.py`).
struct NotificationServerQuirks: Hashable, Sendable {
    /// The interpretation of a button's label.
    enum Label: Hashable, Sendable {
        /// The text is shown unchanged.
        case plain
        /// The text is read as markup: invalid markup leaves the button blank.
        case markUp
        /// An ampersand marks the key that presses the button.
        case mnemonic
    }

    /// The server's interpretation of a button's label.
    var label = Label.plain
    /// The hint of a picture's path. In the specification its last word follows a hyphen since version 1.2.
    var imageHint = "image-path"
    /// The most characters of a body: it would draw them all, down to the bottom of the screen.
    var bodyLimit: Int?
    /// Whether it shows the action of a click on the body as a button too, and takes the click without it.
    var showsClickAsButton = false

    /// The quirks of the server of this name; an unknown server is taken to follow the specification.
    init(server name: String) {
        if name.hasPrefix("lxqt-notificationd") {
            // For the newer hint it logs: "QDBusArgument: read from a write-only object".
            (label, imageHint, bodyLimit, showsClickAsButton) = (.mnemonic, "image_path", Self.screenful, true)
        } else if name.hasPrefix("Notification Daemon") {
            // That of MATE, and of GNOME's older desktops.
            (label, bodyLimit) = (.markUp, Self.screenful)
        }
    }

    private static let screenful = 400

    /// A button's text, so that the server shows it as it was written.
    func labelled(_ text: String) -> String {
        switch label {
        case .plain: text
        case .markUp: MarkUp.body(text, understandsMarkUp: true)
        case .mnemonic: text.replacing("&", with: "&&")
        }
    }

    /// A body as long as the server can show it.
    func shortened(_ body: String) -> String {
        guard let bodyLimit, body.count > bodyLimit else { return body }
        return body.prefix(bodyLimit) + "…"
    }
}
