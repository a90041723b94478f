import Foundation

/// A view that a person would use. It is never seen, and none of its actions is called.
@preconcurrency @MainActor
open class UIControl: UIView {
    /// The state of a control. Raw values are Apple's.
    public struct State: OptionSet, Hashable, Sendable {
        /// Apple's number.
        public let rawValue: UInt
        /// Apple's number.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The state without any of the others.
        public static let normal: State = []
        /// Touched.
        public static let highlighted = State(rawValue: 1 << 0)
        /// Cannot be used.
        public static let disabled = State(rawValue: 1 << 1)
        /// Chosen.
        public static let selected = State(rawValue: 1 << 2)
        /// The button has the keyboard focus.
        public static let focused = State(rawValue: 1 << 3)
    }

    /// Kept, and without effect.
    open var isEnabled = true
    /// Kept, and without effect.
    open var isSelected = false
    /// Kept, and without effect.
    open var isHighlighted = false

    /// The control's state, as the app has set it.
    open var state: State {
        var state = State.normal
        if isHighlighted { state.insert(.highlighted) }
        if !isEnabled { state.insert(.disabled) }
        if isSelected { state.insert(.selected) }
        return state
    }
}

/// A button that is never seen; its titles are kept.
@preconcurrency @MainActor
open class UIButton: UIControl {
    /// How a button looks. Raw values are Apple's.
    public enum ButtonType: Int, Sendable {
        /// A button drawn by the app.
        case custom = 0
        /// A button drawn by the system.
        case system = 1
        /// A sign that more can be seen.
        case detailDisclosure = 2
        /// A sign that there is information.
        case infoLight = 3
        /// The same.
        case infoDark = 4
        /// A sign that something can be added.
        case contactAdd = 5
        /// A sign that something can be closed.
        case close = 7
    }

    private var titles: [State: String] = [:]
    private var madeAs = ButtonType.custom

    /// A button of this look, of no size.
    public convenience init(type buttonType: ButtonType) {
        self.init(frame: .zero)
        madeAs = buttonType
    }

    /// The type with which the button was made.
    open var buttonType: ButtonType { madeAs }

    /// Keeps the text of a state.
    open func setTitle(_ title: String?, for state: State) { titles[state] = title }

    /// The text of a state, as it was set; that of `normal` where the state has no text.
    open func title(for state: State) -> String? { titles[state] ?? titles[.normal] }

    /// The text of the state in which it is.
    open var currentTitle: String? { title(for: state) }
}
