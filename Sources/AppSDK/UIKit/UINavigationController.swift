import Foundation

/// A stack of controllers. It keeps them, and shows none.
@preconcurrency @MainActor
open class UINavigationController: UIViewController {
    /// The controllers, the root first.
    open var viewControllers: [UIViewController] = [] {
        didSet {
            for controller in oldValue where controller.parent === self { controller.parent = nil }
            for controller in viewControllers { controller.parent = self }
        }
    }
    /// Kept, and without effect.
    open var isNavigationBarHidden = false

    /// A stack of one controller.
    public convenience init(rootViewController: UIViewController) {
        self.init(nibName: nil, bundle: nil)
        push(rootViewController)
    }

    private func push(_ controller: UIViewController) { viewControllers.append(controller) }

    /// The last controller.
    open var topViewController: UIViewController? { viewControllers.last }
    /// The controller that the last one presents, else the last one.
    open var visibleViewController: UIViewController? {
        topViewController?.presentedViewController ?? topViewController
    }

    /// Adds a controller.
    open func pushViewController(_ viewController: UIViewController, animated: Bool) { push(viewController) }

    /// Removes the last controller; the root stays.
    @discardableResult
    open func popViewController(animated: Bool) -> UIViewController? {
        viewControllers.count > 1 ? viewControllers.removeLast() : nil
    }

    /// Removes all but the root.
    @discardableResult
    open func popToRootViewController(animated: Bool) -> [UIViewController]? {
        let removed = Array(viewControllers.dropFirst())
        viewControllers = Array(viewControllers.prefix(1))
        return removed
    }

    /// Sets the controllers.
    open func setViewControllers(_ viewControllers: [UIViewController], animated: Bool) {
        self.viewControllers = viewControllers
    }
}

/// Controllers side by side. It keeps them, and shows none.
@preconcurrency @MainActor
open class UITabBarController: UIViewController {
    /// The controllers.
    open var viewControllers: [UIViewController]? {
        didSet {
            for controller in oldValue ?? [] where controller.parent === self { controller.parent = nil }
            for controller in viewControllers ?? [] { controller.parent = self }
        }
    }
    /// The place of the controller that is chosen.
    open var selectedIndex = 0

    /// The controller that is chosen.
    open var selectedViewController: UIViewController? {
        get {
            guard let viewControllers, viewControllers.indices.contains(selectedIndex) else { return nil }
            return viewControllers[selectedIndex]
        }
        set {
            if let place = viewControllers?.firstIndex(where: { $0 === newValue }) { selectedIndex = place }
        }
    }

    /// Sets the controllers.
    open func setViewControllers(_ viewControllers: [UIViewController]?, animated: Bool) {
        self.viewControllers = viewControllers
    }
}

extension UIViewController {
    /// The nearest stack that the controller is in.
    public var navigationController: UINavigationController? { nearest() }
    /// The nearest tabs that the controller is in.
    public var tabBarController: UITabBarController? { nearest() }

    private func nearest<Container>() -> Container? {
        var container = parent
        while let found = container, !(found is Container) { container = found.parent }
        return container as? Container
    }
}
