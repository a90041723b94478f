import AgentCore

/// What the notification server said about itself.
struct ServerFeatures: Hashable, Sendable {
    /// Name and version, as `GetServerInformation` gives them.
    var name = "unknown server"
    var capabilities: Set<String> = []

    var understandsMarkUp: Bool { capabilities.contains("body-markup") }
    var hasActions: Bool { capabilities.contains("actions") }
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
    }

    /// The key of the action that a click on the body chooses.
    static let defaultAction = "default"

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

    init(_ presentation: Presentation, replaces: UInt32, features: ServerFeatures) {
        appName = MarkUp.plain(presentation.appName)
        self.replaces = replaces
        icon = MarkUp.plain(presentation.icon ?? "")
        let titles = [presentation.title, presentation.subtitle].filter { !$0.isEmpty }
        // A notification needs a summary; one that has only a body still says from which app it is.
        summary = MarkUp.plain(titles.isEmpty ? presentation.appName : titles.joined(separator: " - "))
        body = MarkUp.body(presentation.body, understandsMarkUp: features.understandsMarkUp)
        actions = features.hasActions ? [Self.defaultAction, "Open"] : []
        hints = [
            "urgency": .byte(presentation.urgency.rawValue),
            "desktop-entry": .string(MarkUp.plain(presentation.app)),
        ]
        if !presentation.category.isEmpty { hints["category"] = .string(MarkUp.plain(presentation.category)) }
        if features.replacesByTag {
            hints["x-canonical-private-synchronous"] =
                .string(MarkUp.plain("\(presentation.app)/\(presentation.identifier)"))
        }
        if !presentation.playsSound { hints["suppress-sound"] = .boolean(true) }
        expiresAfter = presentation.urgency == .critical ? 0 : -1
    }
}
