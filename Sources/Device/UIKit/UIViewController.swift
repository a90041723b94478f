import Foundation

/// A view controller whose view is never seen. Its methods are not called: nothing appears.
@preconcurrency @MainActor
open class UIViewController: UIResponder {
    // Apple's type: code both uses it as a view and asks whether it is there.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// The view; made when it is first asked for.
    open lazy var view: UIView! = UIView(frame: .zero)
    /// Kept, and without effect.
    open var title: String?
    /// How large it would like to be; kept, and without effect.
    open var preferredContentSize = CGSize.zero
    /// The last controller that was presented.
    open private(set) var presentedViewController: UIViewController?

    /// Always `nil`: nothing runs a view controller as an extension here.
    open var extensionContext: NSExtensionContext? { nil }

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

/// What an extension's host tells it. There is no such host on Linux: nothing makes one but code itself.
open class NSExtensionContext: NSObject {
    /// Always empty.
    open var inputItems: [Any] { [] }

    /// Opens nothing: the handler is told false, at once.
    open func open(_ URL: URL, completionHandler: ((Bool) -> Void)? = nil) { completionHandler?(false) }
}
