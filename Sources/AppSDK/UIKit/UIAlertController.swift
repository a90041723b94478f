import Foundation
import Platform

/// A question, shown in a window of zenity, yad or kdialog when a controller presents it.
///
/// Guarantees: the handler of the chosen action is called once, on the main actor, after the presenting controller has
/// let the alert go. Closing the window chooses the action that cancels, or the only one; where there is neither, no
/// handler is called. Nor is one when no window can be opened: then the reason is on standard error.
@preconcurrency @MainActor
open class UIAlertController: UIViewController {
    /// How a question is asked. Raw values are Apple's.
    public enum Style: Int, Sendable {
        /// From the edge of the screen.
        case actionSheet = 0
        /// In the middle of the screen.
        case alert = 1
    }

    /// The text below the title.
    open var message: String?
    /// The way in which it is asked; here both are a window.
    open private(set) var preferredStyle = Style.actionSheet
    /// The alert's actions, in the order in which they were added.
    open private(set) var actions: [UIAlertAction] = []

    /// The window of all alerts.
    static var window = AlertWindow()
    /// Closes this alert's window.
    private var wish: WakeUp?

    /// A question without answers.
    public convenience init(title: String?, message: String?, preferredStyle: Style) {
        self.init()
        self.title = title
        self.message = message
        self.preferredStyle = preferredStyle
    }

    /// Adds an answer.
    open func addAction(_ action: UIAlertAction) { actions.append(action) }

    /// Opens the window; `ended` is called when it has closed, before the handler of what was chosen.
    func show(ended: @escaping @MainActor () -> Void) {
        let offered = actions.filter(\.isEnabled)
        let question = AlertQuestion(
            title: title ?? "", message: message ?? "", actions: offered.map { $0.title ?? "" },
            cancel: offered.firstIndex { $0.style == .cancel })
        guard let wish = try? WakeUp() else { return Self.report("the system has no descriptor left") }
        self.wish = wish
        let choice = Choice(actions: offered, ended: ended)
        Self.window.ask(question, unlessEnded: wish) { answer in
            DispatchQueue.main.async { MainActor.assumeIsolated { choice.settle(answer) } }
        }
    }

    /// Closes the window, if it is open; no handler is called.
    func close() { wish?.signal() }

    /// The actions that wait for a window's answer.
    private final class Choice: Sendable {
        @MainActor private let actions: [UIAlertAction]
        @MainActor private let ended: @MainActor () -> Void

        @MainActor init(actions: [UIAlertAction], ended: @escaping @MainActor () -> Void) {
            self.actions = actions
            self.ended = ended
        }

        @MainActor func settle(_ answer: AlertAnswer) {
            if case .unavailable(let reason) = answer { UIAlertController.report(reason) }
            ended()
            if case .chosen(let index) = answer { actions[index].handler?(actions[index]) }
        }
    }

    private static func report(_ reason: String) {
        try? FileHandle.standardError.write(
            contentsOf: Data("aldaba: an alert cannot be shown, and no handler is called: \(reason)\n".utf8))
    }
}

/// An answer to an alert.
@preconcurrency @MainActor
open class UIAlertAction: NSObject {
    /// The style of an action. Raw values are Apple's.
    public enum Style: Int, Sendable {
        /// An answer like others.
        case `default` = 0
        /// Leaves everything as it is.
        case cancel = 1
        /// Destroys something.
        case destructive = 2
    }

    /// The action's title.
    public let title: String?
    /// The action's style.
    public let style: Style
    /// Whether the action is offered; read when the alert is presented.
    open var isEnabled = true
    let handler: ((UIAlertAction) -> Void)?

    /// An answer, and what is called when a person chooses it.
    public init(title: String?, style: Style, handler: ((UIAlertAction) -> Void)? = nil) {
        self.title = title
        self.style = style
        self.handler = handler
    }
}
