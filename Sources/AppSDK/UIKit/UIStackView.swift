import Foundation

/// The directions in which views are laid out; an empty one of Apple's.
public enum NSLayoutConstraint {
    /// A direction. Raw values are Apple's.
    public enum Axis: Int, Sendable {
        /// Side by side.
        case horizontal = 0
        /// Views in a column.
        case vertical = 1
    }
}

/// Views in a row. It keeps them, and lays out nothing.
@preconcurrency @MainActor
open class UIStackView: UIView {
    /// How views fill the row. Raw values are Apple's.
    public enum Distribution: Int, Sendable {
        /// They fill it.
        case fill = 0
        /// They fill it, all of one size.
        case fillEqually = 1
        /// They fill it, by their own sizes.
        case fillProportionally = 2
        /// The space between them is the same.
        case equalSpacing = 3
        /// The space between their middles is the same.
        case equalCentering = 4
    }

    /// How views lie across the row. Raw values are Apple's.
    public enum Alignment: Int, Sendable {
        /// They fill it.
        case fill = 0
        /// At its beginning.
        case leading = 1
        /// On the first line of text.
        case firstBaseline = 2
        /// In the middle.
        case center = 3
        /// At its end.
        case trailing = 4
        /// On the last line of text.
        case lastBaseline = 5
        /// At its top.
        public static let top = Alignment.leading
        /// At its bottom.
        public static let bottom = Alignment.trailing
    }

    /// The views in the row, in their order.
    open private(set) var arrangedSubviews: [UIView] = []
    /// Kept, and without effect.
    open var axis = NSLayoutConstraint.Axis.horizontal
    /// Kept, and without effect.
    open var distribution = Distribution.fill
    /// Kept, and without effect.
    open var alignment = Alignment.fill
    /// Kept, and without effect.
    open var spacing: CGFloat = 0

    /// A row of these views.
    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { addArrangedSubview(view) }
    }

    /// Adds a view at the end of the row.
    open func addArrangedSubview(_ view: UIView) { insert(view, at: arrangedSubviews.count) }

    /// Adds a view at a place of the row, which must exist.
    open func insertArrangedSubview(_ view: UIView, at stackIndex: Int) { insert(view, at: stackIndex) }

    private func insert(_ view: UIView, at place: Int) {
        let isMoved = arrangedSubviews.contains { $0 === view }
        arrangedSubviews.removeAll { $0 === view }
        arrangedSubviews.insert(view, at: isMoved ? min(place, arrangedSubviews.count) : place)
        if view.superview !== self { addSubview(view) }
    }

    /// Takes a view out of the row; it stays in the view.
    open func removeArrangedSubview(_ view: UIView) { arrangedSubviews.removeAll { $0 === view } }
}

/// A file of views. Linux has none: nothing is read.
@preconcurrency @MainActor
open class UINib: NSObject {
    /// The file of this name; it is not read.
    public init(nibName name: String, bundle bundleOrNil: Bundle?) { super.init() }

    /// Always empty.
    open func instantiate(withOwner ownerOrNil: Any?, options: [AnyHashable: Any]? = nil) -> [Any] { [] }
}
