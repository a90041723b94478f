import Foundation

/// A screen without pixels.
@preconcurrency @MainActor
public final class UIScreen: NSObject {
    /// The one screen.
    public static let main = UIScreen()

    /// Empty.
    public var bounds: CGRect { .zero }
    /// 1.
    public var scale: CGFloat { 1 }
}

/// A view that is never seen. It keeps its values, so that code which lays out views works.
@preconcurrency @MainActor
open class UIView: UIResponder {
    /// The view's rectangle in its superview; kept, and without effect.
    open var frame: CGRect
    /// Kept, and without effect.
    open var backgroundColor: UIColor?
    /// Kept; no view is seen anyway.
    open var isHidden = false
    /// Kept, and without effect.
    open var alpha: CGFloat = 1
    /// Kept: a number by which ``viewWithTag(_:)`` finds the view.
    open var tag = 0
    /// Kept, and without effect.
    open var isUserInteractionEnabled = true
    /// Kept, and without effect.
    open var translatesAutoresizingMaskIntoConstraints = true
    /// The views that were put into it, the lowest first.
    open private(set) var subviews: [UIView] = []
    /// The view that it was put into.
    open private(set) weak var superview: UIView?

    /// A view that would be there.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// A view of no size: there are no storyboards here, and nothing is read.
    public required init?(coder: NSCoder) {
        frame = .zero
        super.init()
    }

    /// A view of no size.
    public required convenience init() { self.init(frame: .zero) }

    /// The view's size, at the origin. Setting it keeps the ``center``.
    open var bounds: CGRect {
        get { CGRect(origin: .zero, size: frame.size) }
        set {
            let middle = center
            frame.size = newValue.size
            center = middle
        }
    }

    /// The middle of the ``frame``. Setting it keeps the size.
    open var center: CGPoint {
        get { CGPoint(x: frame.midX, y: frame.midY) }
        set {
            frame.origin = CGPoint(x: newValue.x - frame.width / 2, y: newValue.y - frame.height / 2)
        }
    }

    /// Puts a view on top of the others in this one, and takes it out of the one that it was in.
    open func addSubview(_ view: UIView) {
        view.removeFromSuperview()
        subviews.append(view)
        view.superview = self
    }

    /// The view itself or the first of those in it that has the tag.
    open func viewWithTag(_ tag: Int) -> UIView? {
        self.tag == tag ? self : subviews.lazy.compactMap { $0.viewWithTag(tag) }.first
    }

    /// Takes the view out of the one that it is in.
    open func removeFromSuperview() {
        superview?.subviews.removeAll { $0 === self }
        superview = nil
    }
}

/// A window that is never seen; it keeps what an app delegate puts into it.
@preconcurrency @MainActor
open class UIWindow: UIView {
    /// Kept.
    open var rootViewController: UIViewController?

    /// A window of a scene.
    public convenience init(windowScene: UIWindowScene) { self.init(frame: .zero) }

    /// Always false: no text is typed into it.
    open var isKeyWindow: Bool { false }

    /// Does nothing: there is no screen.
    open func makeKeyAndVisible() {}
}

/// A text that is never seen; its values are kept.
@preconcurrency @MainActor
open class UILabel: UIView {
    /// Kept.
    open var text: String?
    // Apple's type: code both uses it as a color and sets it to `nil`.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Kept, and without effect.
    open var textColor: UIColor! = .label
    /// Kept, and without effect.
    open var textAlignment = NSTextAlignment.natural
    /// Kept, and without effect.
    open var numberOfLines = 1
}

/// A picture that is never seen.
@preconcurrency @MainActor
open class UIImageView: UIView {
    /// Kept.
    open var image: UIImage?

    /// A view with this picture, of no size.
    public convenience init(image: UIImage?) {
        self.init(frame: .zero)
        self.image = image
    }
}

/// The alignment of lines of text. Raw values are Apple's.
public enum NSTextAlignment: Int, Sendable {
    /// To the left.
    case left = 0
    /// To the middle.
    case center = 1
    /// To the right.
    case right = 2
    /// To both sides.
    case justified = 3
    /// The natural alignment of the language.
    case natural = 4
}
