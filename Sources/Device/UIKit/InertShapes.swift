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

/// A view that is never seen.
@preconcurrency @MainActor
open class UIView: UIResponder {
    /// Where it would be; kept.
    open var frame: CGRect
    /// Kept, and without effect.
    open var backgroundColor: UIColor?

    /// A view that would be there.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// A view of no size.
    public required init() {
        frame = .zero
        super.init()
    }
}

/// A view controller whose view is never seen. Its methods are not called: nothing appears.
@preconcurrency @MainActor
open class UIViewController: UIResponder {
    /// The view; made when it is first asked for.
    open lazy var view = UIView(frame: .zero)
    /// Kept, and without effect.
    open var title: String?
    /// The last controller that was presented.
    open private(set) var presentedViewController: UIViewController?

    /// Does nothing.
    open func viewDidLoad() {}
    /// Does nothing.
    open func viewWillAppear(_ animated: Bool) {}
    /// Does nothing.
    open func viewDidAppear(_ animated: Bool) {}
    /// Does nothing.
    open func viewWillDisappear(_ animated: Bool) {}
    /// Does nothing.
    open func viewDidDisappear(_ animated: Bool) {}

    /// Keeps the controller and calls the handler; nothing is shown.
    open func present(
        _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
    ) {
        presentedViewController = viewControllerToPresent
        completion?()
    }

    /// Lets the presented controller go and calls the handler.
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        presentedViewController = nil
        completion?()
    }
}

/// A window that is never seen; it keeps what an app delegate puts into it.
@preconcurrency @MainActor
open class UIWindow: UIView {
    /// Kept.
    open var rootViewController: UIViewController?

    /// A window of a scene.
    public convenience init(windowScene: UIWindowScene) { self.init(frame: .zero) }

    /// Does nothing: there is no screen.
    open func makeKeyAndVisible() {}
}

/// A color by its parts, each `0 ... 1`. Nothing is painted with it.
public final class UIColor: NSObject, Sendable {
    private let parts: [CGFloat]

    /// A color by its parts.
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) { parts = [red, green, blue, alpha] }

    /// White.
    public static let white = UIColor(red: 1, green: 1, blue: 1, alpha: 1)
    /// Black.
    public static let black = UIColor(red: 0, green: 0, blue: 0, alpha: 1)
    /// Black that lets everything through.
    public static let clear = UIColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// What windows are painted with; white.
    public static let systemBackground = UIColor.white

    /// Whether the other has the same parts.
    public override func isEqual(_ object: Any?) -> Bool { (object as? UIColor)?.parts == parts }
    /// The same for equal colors.
    public override var hash: Int { parts.hashValue }
}
