import Foundation

/// A question that is never shown. It can be presented like any view controller here; since it gets no answer, no
/// action's handler is called.
@preconcurrency @MainActor
open class UIAlertController: UIViewController {
    /// How a question is asked. Raw values are Apple's.
    public enum Style: Int, Sendable {
        /// From the edge of the screen.
        case actionSheet = 0
        /// In the middle of the screen.
        case alert = 1
    }

    /// Kept.
    open var message: String?
    /// How it would be asked.
    open private(set) var preferredStyle = Style.actionSheet
    /// The alert's actions, in the order in which they were added.
    open private(set) var actions: [UIAlertAction] = []

    /// A question without answers.
    public convenience init(title: String?, message: String?, preferredStyle: Style) {
        self.init()
        self.title = title
        self.message = message
        self.preferredStyle = preferredStyle
    }

    /// Adds an answer.
    open func addAction(_ action: UIAlertAction) { actions.append(action) }
}

/// An answer that is never given.
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
    /// Kept, and without effect.
    open var isEnabled = true

    /// An answer; the handler is never called.
    public init(title: String?, style: Style, handler: ((UIAlertAction) -> Void)? = nil) {
        self.title = title
        self.style = style
    }
}
