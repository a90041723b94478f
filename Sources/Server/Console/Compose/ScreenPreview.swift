import Texts

/// The look of a notification on one kind of screen, by that screen's usual settings.
///
/// It is an approximation: fonts, widths and people's settings differ.
struct ScreenPreview: Hashable, Sendable {
    /// The kinds of screens.
    enum Screen: String, CaseIterable, Sendable {
        case iphone
        case gnome
        case dunst
        case android
    }

    let screen: Screen
    /// The lines of text, the first one in bold.
    var lines: [String] = []
    /// Whether a picture is visible.
    var hasPicture = false
    /// The number of buttons that appear only when the notification is opened.
    var hiddenButtons = 0
    /// Whether something of the texts is cut off.
    var isCut = false

    /// The characters of each text that a screen shows, and whether the subtitle is in the title's line.
    private struct DisplayLimits {
        var title: Int
        var body: Int
        var joinsSubtitle: Bool
    }

    private static func displayLimits(of screen: Screen) -> DisplayLimits {
        switch screen {
        // The lock screen: a title of one line, a body of four; buttons after a long press.
        case .iphone: DisplayLimits(title: 38, body: 160, joinsSubtitle: false)
        // A banner that is not opened: one line each.
        case .gnome: DisplayLimits(title: 46, body: 54, joinsSubtitle: true)
        // 300 pixels wide, and 300 high; buttons by the context menu.
        case .dunst: DisplayLimits(title: 42, body: 480, joinsSubtitle: true)
        // A notification that is not opened: one line each.
        case .android: DisplayLimits(title: 40, body: 46, joinsSubtitle: true)
        }
    }

    /// The text that a screen shows of a notification; `nil` for a silent one.
    init?(_ message: ComposedMessage, in language: String?, on screen: Screen) {
        guard !message.isSilent else { return nil }
        self.screen = screen
        let limits = Self.displayLimits(of: screen)
        let words = message.words(in: language)
        var titles = [words.title, screen == .android ? "" : words.subtitle].filter { !$0.isEmpty }
        // The agent shows title and subtitle in one line, for desktops have one.
        if limits.joinsSubtitle { titles = titles.isEmpty ? [] : [titles.joined(separator: " - ")] }
        for title in titles { add(title, most: limits.title) }
        if !words.body.isEmpty { add(words.body, most: limits.body) }
        hiddenButtons = message.actions.count
        hasPicture = !message.media.isEmpty
    }

    private mutating func add(_ text: String, most: Int) {
        let cut = Self.cut(text, most: most)
        isCut = isCut || cut != text
        lines.append(cut)
    }

    /// The beginning of a text, with an ellipsis where something is cut off.
    static func cut(_ text: String, most: Int) -> String {
        guard text.count > most else { return text }
        var start = text.prefix(most - 1)
        while start.last?.isWhitespace == true { start.removeLast() }
        return start + "…"
    }

    /// The preview for templates.
    func view(_ texts: Catalogue, app: String) -> [String: Any] {
        var notes: [String] = []
        if isCut { notes.append(texts.text("compose.cut")) }
        if hiddenButtons > 0 { notes.append(texts.text("compose.hidden", count: hiddenButtons)) }
        return [
            "name": texts.text("compose.screen.\(screen.rawValue)"), "kind": screen.rawValue, "app": app,
            "heading": lines.first ?? app, "rest": Array(lines.dropFirst()), "hasPicture": hasPicture, "notes": notes,
        ]
    }
}
