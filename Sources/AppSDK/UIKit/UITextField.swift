import Foundation

/// Is told of a field's editing. Nothing is typed on Linux, so that no method is called.
@preconcurrency @MainActor
public protocol UITextFieldDelegate: NSObjectProtocol {}

/// Is told of a text view's editing. Nothing is typed on Linux, so that no method is called.
@preconcurrency @MainActor
public protocol UITextViewDelegate: UIScrollViewDelegate {}

/// Is told of scrolling. Nothing is scrolled on Linux, so that no method is called.
@preconcurrency @MainActor
public protocol UIScrollViewDelegate: NSObjectProtocol {}

/// A line of text that a person would type. It is never seen.
@preconcurrency @MainActor
open class UITextField: UIControl {
    /// How a field is framed. Raw values are Apple's.
    public enum BorderStyle: Int, Sendable {
        /// Not at all.
        case none = 0
        /// A line.
        case line = 1
        /// A bevel.
        case bezel = 2
        /// Round corners.
        case roundedRect = 3
    }

    /// Kept.
    open var text: String?
    /// Kept, and without effect.
    open var placeholder: String?
    /// Kept, and without effect.
    open var textColor: UIColor?
    /// Kept, and without effect.
    open var textAlignment = NSTextAlignment.natural
    /// Kept, and without effect.
    open var borderStyle = BorderStyle.none
    /// Kept, and without effect.
    open var isSecureTextEntry = false
    /// Kept; none of its methods is called.
    open weak var delegate: (any UITextFieldDelegate)?
    /// Always false: nothing is typed.
    open var isEditing: Bool { false }
}

/// A view larger than its frame. It is never seen or scrolled.
@preconcurrency @MainActor
open class UIScrollView: UIView {
    /// Kept, and without effect.
    open var contentOffset = CGPoint.zero
    /// Kept, and without effect.
    open var contentSize = CGSize.zero
    /// Kept, and without effect.
    open var isScrollEnabled = true

    /// Sets the offset.
    open func setContentOffset(_ contentOffset: CGPoint, animated: Bool) { self.contentOffset = contentOffset }
}

/// Lines of text that a person would type. They are never seen.
@preconcurrency @MainActor
open class UITextView: UIScrollView {
    // Apple's type: code both uses it as a text and sets it to `nil`.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Kept; empty where it was set to `nil`.
    open var text: String! = "" {
        didSet { if text == nil { text = "" } }
    }
    /// Kept, and without effect.
    open var textColor: UIColor?
    /// Kept, and without effect.
    open var textAlignment = NSTextAlignment.natural
    /// Kept, and without effect.
    open var isEditable = true
    /// Kept, and without effect.
    open var isSelectable = true
    /// Kept; none of its methods is called.
    open weak var delegate: (any UITextViewDelegate)?
}
