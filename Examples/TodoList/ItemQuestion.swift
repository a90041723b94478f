import Course
import UserNotifications

/// Asks about one item: a local notification with a picture that the list draws, buttons, and a reply.
@MainActor
enum ItemQuestion {
    nonisolated static let category = "question"

    private enum Answer {
        static let done = "done"
        static let later = "later"
        static let note = "note"
    }

    static var categoryDescription: UNNotificationCategory {
        UNNotificationCategory(
            identifier: category,
            actions: [
                UNNotificationAction(identifier: Answer.done, title: "Done"),
                UNNotificationAction(identifier: Answer.later, title: "Later"),
                UNTextInputNotificationAction(
                    identifier: Answer.note, title: "Note", options: [], textInputButtonTitle: "Keep",
                    textInputPlaceholder: "What about it?"),
            ], intentIdentifiers: [])
    }

    static func ask(about item: String) async {
        let content = UNMutableNotificationContent()
        content.title = "Is it done?"
        content.body = item
        content.sound = .default
        content.categoryIdentifier = category
        content.userInfo = ["item": item]
        await Terminal.trying("question") {
            content.attachments = [try picture.attachment("picture")]
            try await UNUserNotificationCenter.current().add(
                UNNotificationRequest(identifier: category, content: content, trigger: nil))
        }
    }

    /// A check mark's box.
    private static var picture: DrawnImage {
        var image = DrawnImage(width: 96, height: 96, colour: .init(0xE0, 0x40, 0xA0))
        image.fill(24..<72, 24..<72, .init(0xFF, 0xFF, 0xFF))
        image.fill(32..<64, 32..<64, .init(0xE0, 0x40, 0xA0))
        return image
    }

    /// What was chosen, where it was an answer.
    static func answer(_ choice: Choice, about item: String) -> ChosenAnswer? {
        switch choice {
        case .pressed(let action): ChosenAnswer(action: action, item: item, text: nil)
        case .wrote(let text, let action): ChosenAnswer(action: action, item: item, text: text)
        case .opened, .dismissed: nil
        }
    }
}

/// An answer to a question, which is kept for the next start.
struct ChosenAnswer: Codable, CustomStringConvertible {
    var action: String
    var item: String
    var text: String?

    /// `done, for Buy milk`.
    var description: String { "\(action)\(text.map { " (\($0))" } ?? ""), for \(item)" }

    /// The last line of the file is the last answer.
    static func last(in path: String?) -> ChosenAnswer? {
        AppendedFile.lines(of: path).last.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) }
    }

    func append(to file: AppendedFile?) {
        if let line = try? JSONEncoder().encode(self) { file?.append(line: line) }
    }
}
