import Foundation

/// A view controller whose view is never seen. Its methods are not called: nothing appears.
@preconcurrency @MainActor
open class UIViewController: UIResponder {
    // Apple's type: code both uses it as a view and asks whether it is there.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// The view; made when it is first asked for.
    open var view: UIView! {
        get {
            if let loadedView { return loadedView }
            let made = UIView(frame: .zero)
            loadedView = made
            return made
        }
        set { loadedView = newValue }
    }
    private var loadedView: UIView?
    /// The view where it has been made, and `nil` before.
    open var viewIfLoaded: UIView? { loadedView }
    /// Whether the view has been made.
    open var isViewLoaded: Bool { loadedView != nil }
    /// The stack or the tabs that the controller is in.
    open internal(set) weak var parent: UIViewController?
    /// The controller's tab; kept, and without effect.
    open lazy var tabBarItem: UITabBarItem? = UITabBarItem(title: title, image: nil, tag: 0)
    /// The title and buttons of a bar above the view; kept, and without effect.
    open var navigationItem: UINavigationItem { ownItem }
    private lazy var ownItem = UINavigationItem(title: title ?? "")
    /// The name that it was made with; nothing is read by it.
    public let nibName: String?
    /// The bundle that it was made with; nothing is read from it.
    public let nibBundle: Bundle?
    /// Kept, and without effect.
    open var title: String?
    /// How large it would like to be; kept, and without effect.
    open var preferredContentSize = CGSize.zero
    /// The last controller that was presented.
    open private(set) var presentedViewController: UIViewController?

    /// Creates a controller with an empty view: there are no nib files here, and none is read.
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
        nibName = nibNameOrNil
        nibBundle = nibBundleOrNil
        super.init()
    }

    /// A controller whose view is empty: there are no storyboards here, and nothing is read.
    public required init?(coder: NSCoder) {
        nibName = nil
        nibBundle = nil
        super.init()
    }

    /// A controller whose view is empty.
    public required convenience init() { self.init(nibName: nil, bundle: nil) }

    /// Always `nil`: nothing runs a view controller as an extension here.
    open var extensionContext: NSExtensionContext? { nil }

    /// Does nothing.
    open func viewDidLoad() {}
    /// Does nothing.
    open func viewWillLayoutSubviews() {}
    /// Does nothing.
    open func viewDidLayoutSubviews() {}
    /// Does nothing.
    open func didReceiveMemoryWarning() {}
    /// Does nothing.
    open func viewWillAppear(_ animated: Bool) {}
    /// Does nothing.
    open func viewDidAppear(_ animated: Bool) {}
    /// Does nothing.
    open func viewWillDisappear(_ animated: Bool) {}
    /// Does nothing.
    open func viewDidDisappear(_ animated: Bool) {}

    /// Keeps the controller and calls the handler. An alert is shown; nothing else is.
    open func present(
        _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
    ) {
        presentedViewController = viewControllerToPresent
        if let alert = viewControllerToPresent as? UIAlertController {
            alert.show { [weak self, weak alert] in
                if let self, presentedViewController === alert { presentedViewController = nil }
            }
        }
        completion?()
    }

    /// Lets the presented controller go and calls the handler. The window of an alert closes.
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        (presentedViewController as? UIAlertController)?.close()
        presentedViewController = nil
        completion?()
    }
}

/// The title and buttons of a bar above a controller's view.
@preconcurrency @MainActor
open class UINavigationItem: NSObject {
    /// Kept, and without effect.
    open var title: String?
    /// Kept, and without effect.
    open var prompt: String?
    /// Kept, and without effect.
    open var titleView: UIView?
    /// Kept, and without effect.
    open var leftBarButtonItems: [UIBarButtonItem]?
    /// Kept, and without effect.
    open var rightBarButtonItems: [UIBarButtonItem]?
    /// The first of ``leftBarButtonItems``.
    open var leftBarButtonItem: UIBarButtonItem? {
        get { leftBarButtonItems?.first }
        set { leftBarButtonItems = newValue.map { [$0] } }
    }
    /// The first of ``rightBarButtonItems``.
    open var rightBarButtonItem: UIBarButtonItem? {
        get { rightBarButtonItems?.first }
        set { rightBarButtonItems = newValue.map { [$0] } }
    }

    /// An item with this title.
    public init(title: String) { self.title = title }
}

/// The context of an extension's host. There is no such host on Linux, so only the app's own code makes one.
open class NSExtensionContext: NSObject {
    /// Always empty.
    open var inputItems: [Any] { [] }

    /// Opens nothing: the handler gets false, at once.
    open func open(_ URL: URL, completionHandler: ((Bool) -> Void)? = nil) { completionHandler?(false) }
}
