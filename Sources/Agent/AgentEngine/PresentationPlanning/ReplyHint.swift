import PushCore

extension ReplyRequest {
    /// The command with which a terminal replies.
    package var command: String {
        "aldaba notifications act \(notification.id) --action \(Self.quoted(button)) --text TEXT"
    }

    /// The notification with the command in place of its text, where no window can be opened for a reply. Its text stays
    /// in the list.
    package func hint(over presentation: Presentation, reason: String) -> Presentation {
        var hint = presentation
        hint.title = "Reply in a terminal"
        hint.subtitle = ""
        hint.body = "\(command)\nHere it is not possible: \(reason)."
        hint.buttons.removeAll { $0.reply != nil }
        (hint.image, hint.still, hint.sound) = (nil, nil, .silent)
        return hint
    }

    /// An argument that the shell takes unchanged.
    private static func quoted(_ word: String) -> String {
        let plain =
            !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        return plain
            ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
