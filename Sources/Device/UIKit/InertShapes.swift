import Foundation

/// A screen without pixels.
@MainActor
public final class UIScreen: NSObject {
    public static let main = UIScreen()

    /// Empty.
    public var bounds: CGRect { .zero }
}

/// A view controller without a view.
@MainActor
open class UIViewController: UIResponder {}

/// A window that is never seen; it keeps what an app delegate puts into it.
@MainActor
open class UIWindow: UIResponder {
    open var rootViewController: UIViewController?
    public let frame: CGRect

    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    public required init() {
        frame = .zero
        super.init()
    }

    /// Does nothing: there is no screen.
    open func makeKeyAndVisible() {}
}
