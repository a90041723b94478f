import AgentEngine
import AgentProtocol
import CoreValues

/// The notification server's name and capabilities, as the server reports them.
struct NotificationServerInformation: Hashable, Sendable {
    /// Name and version, as `GetServerInformation` gives them.
    var name = "unknown server"
    var capabilities: Set<String> = []

    /// The server's departures from the specification.
    var quirks: NotificationServerQuirks { NotificationServerQuirks(server: name) }
    var understandsMarkUp: Bool { capabilities.contains("body-markup") }
    var hasActions: Bool { capabilities.contains("actions") }
    var hasInlineReply: Bool { capabilities.contains("inline-reply") }
    var playsSounds: Bool { capabilities.contains("sound") }
    var showsAnimations: Bool { capabilities.contains("icon-multi") }
    /// Whether a popup of the same tag is replaced by the server itself.
    var replacesByTag: Bool { capabilities.contains("x-canonical-private-synchronous") }
}

/// The arguments of one `Notify` call (Desktop Notifications Specification, section 9).
struct NotifyMessage: Hashable, Sendable {
    /// A value of the hints dictionary.
    enum Hint: Hashable, Sendable {
        case string(String)
        case byte(UInt8)
        case boolean(Bool)
        case int32(Int32)
    }

    /// The key of the action that a click on the body chooses.
    static let defaultAction = "default"
    /// The key of the action that asks for text on the notification itself.
    static let inlineReply = "inline-reply"
    /// The prefix of a button's own identifier, which keeps it apart from those two.
    static let buttonPrefix = "button:"

    var appName: String
    var replaces: UInt32
    var icon: String
    var summary: String
    var body: String
    /// Pairs of key and label.
    var actions: [String]
    var hints: [String: Hint]
    /// Milliseconds; -1 leaves it to the server, 0 is never.
    var expiresAfter: Int32

    init(_ presentation: Presentation, replaces: UInt32, features: NotificationServerInformation) {
        let presentation = presentation.withPlainDirections
        appName = BusValue.plain(presentation.appName)
        self.replaces = replaces
        icon = BusValue.plain(presentation.icon ?? "")
        let titles = [presentation.title, presentation.subtitle].filter { !$0.isEmpty }
        // A notification needs a summary; one that has only a body gets the name of its app.
        summary = BusValue.plain(titles.isEmpty ? presentation.appName : titles.joined(separator: " - "))
        let quirks = features.quirks
        // What is cut off may hold the end of a direction.
        let text = DirectionControls.balanced(in: quirks.shortened(presentation.body))
        body = MarkUp.body(text, understandsMarkUp: features.understandsMarkUp)
        actions = []
        hints = [
            "urgency": .byte(presentation.urgency.rawValue),
            "desktop-entry": .string(BusValue.plain(presentation.desktopEntry ?? presentation.app.rawValue)),
        ]
        if !presentation.category.isEmpty { hints["category"] = .string(BusValue.plain(presentation.category)) }
        if let progress = presentation.progress, progress.isFinite {
            hints["value"] = .int32(Int32((min(max(progress, 0), 1) * 100).rounded()))
        }
        let (moving, still) = (presentation.image, presentation.still)
        if let image = features.showsAnimations ? moving ?? still : still ?? moving {
            hints[quirks.imageHint] = .string(BusValue.plain(image))
        }
        if features.replacesByTag {
            hints["x-canonical-private-synchronous"] =
                .string(BusValue.plain("\(presentation.app)/\(presentation.identifier)"))
        }
        switch presentation.sound {
        case _ where !features.playsSounds, .silent: hints["suppress-sound"] = .boolean(true)
        case .standard:
            let isCall = presentation.category == NotificationContent.incomingCallCategory
            hints["sound-name"] = .string(isCall ? "phone-incoming-call" : "message-new-instant")
        case .file(let path): hints["sound-file"] = .string(BusValue.plain(path))
        }
        expiresAfter = presentation.stays || presentation.urgency == .critical ? 0 : -1
        // It stays although a button is pressed, until it is closed here.
        if presentation.stays { hints["resident"] = .boolean(true) }
        if features.hasActions { addActions(of: presentation, features) }
    }

    private mutating func addActions(of presentation: Presentation, _ features: NotificationServerInformation) {
        let quirks = features.quirks
        // Of a question a click on the body would be no answer, and some servers have no other click than that.
        if !presentation.isQuestion {
            let isPlain = presentation.openLabel == Presentation.plainOpenLabel
            let label = quirks.showsClickAsButton && isPlain ? "" : quirks.labelled(presentation.openLabel)
            actions = [Self.defaultAction, BusValue.plain(label)]
        }
        for button in presentation.buttons {
            if features.hasInlineReply, let reply = button.reply, !actions.contains(Self.inlineReply) {
                actions += [Self.inlineReply, BusValue.plain(quirks.labelled(button.label))]
                hints["x-kde-reply-placeholder-text"] = .string(BusValue.plain(reply.placeholder))
                hints["x-kde-reply-submit-button-text"] = .string(BusValue.plain(reply.submitLabel))
            } else {
                actions += [
                    Self.buttonPrefix + BusValue.plain(button.identifier),
                    BusValue.plain(quirks.labelled(button.label)),
                ]
            }
        }
    }
}
