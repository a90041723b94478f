import AgentEngine
import AgentProtocol
import CoreValues
import PushCore

/// The question whether another device may call a service here, as a person sees it.
package enum RelayQuestionNotification {
    private static let identifier = "aldaba.relay"

    /// The question, with its three answers as buttons.
    package static func presentation(_ id: NotificationID, _ question: RelayQuestion) -> Presentation {
        var look = Presentation(
            notification: id, app: BundleID(rawValue: question.app), appName: question.appName,
            identifier: "\(identifier).\(question.device).\(question.service)",
            title: "Let “\(plain(question.deviceName))” use “\(plain(question.service))”?",
            body: "\(plain(question.appName)) offers it on this device. "
                + (question.isGuests ? "The device is another person’s." : "The device belongs to you."))
        look.openLabel = "Later"
        look.buttons = RelayQuestion.Answer.allCases.map {
            Presentation.Button(identifier: $0.rawValue, label: label($0))
        }
        look.stays = true
        look.isQuestion = true
        return look
    }

    private static func label(_ answer: RelayQuestion.Answer) -> String {
        switch answer {
        case .once: "Allow Once"
        case .always: "Always Allow"
        case .deny: "Don’t Allow"
        }
    }

    /// Names that others chose: without control characters and those that change the direction of text, and not too long.
    private static func plain(_ text: String) -> String {
        let shown = DirectionControls.removed(from: text).unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }
        return String(String.UnicodeScalarView(shown).prefix(64))
    }
}
