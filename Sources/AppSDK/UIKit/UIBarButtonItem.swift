import Foundation

/// The name of a method. Linux has no Objective-C runtime: nothing is ever called by it, and `#selector` does not
/// compile.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name of this method.
    public let name: String
    /// The name of a method.
    public init(_ name: String) { self.name = name }
    /// The name of a method.
    public init(stringLiteral name: String) { self.name = name }
}

/// The common part of buttons and tabs of a bar. It is kept, and never seen.
@preconcurrency @MainActor
open class UIBarItem: NSObject {
    /// Kept, and without effect.
    open var title: String?
    /// Kept, and without effect.
    open var image: UIImage?
    /// Kept, and without effect.
    open var isEnabled = true
    /// Kept, and without effect.
    open var tag = 0

    /// An item without title.
    public override init() { super.init() }
}

/// A button of a bar. It is never seen, and its action is never called.
@preconcurrency @MainActor
open class UIBarButtonItem: UIBarItem {
    /// How a button looks. Raw values are Apple's.
    public enum Style: Int, Sendable {
        /// The look that most have.
        case plain = 0
        /// The look of one that completes something.
        case done = 2
    }

    /// A button that every system has. Raw values are Apple's.
    public enum SystemItem: Int, Sendable {
        /// Done.
        case done = 0
        /// Cancel.
        case cancel = 1
        /// Edit.
        case edit = 2
        /// Save.
        case save = 3
        /// Add.
        case add = 4
        /// Space that grows.
        case flexibleSpace = 5
        /// Space that does not.
        case fixedSpace = 6
        /// Compose.
        case compose = 7
        /// Reply.
        case reply = 8
        /// Action.
        case action = 9
        /// Organize.
        case organize = 10
        /// Bookmarks.
        case bookmarks = 11
        /// Search.
        case search = 12
        /// Refresh.
        case refresh = 13
        /// Stop.
        case stop = 14
        /// Camera.
        case camera = 15
        /// Trash.
        case trash = 16
    }

    /// Kept, and without effect.
    open var style = Style.plain
    /// Kept, and without effect.
    open var customView: UIView?
    /// Kept, and never called.
    open weak var target: AnyObject?
    /// Kept, and never called.
    open var action: Selector?

    /// A button with a title.
    public convenience init(title: String?, style: Style, target: Any?, action: Selector?) {
        self.init()
        self.title = title
        self.style = style
        set(target, action)
    }

    /// A button with a picture.
    public convenience init(image: UIImage?, style: Style, target: Any?, action: Selector?) {
        self.init()
        self.image = image
        self.style = style
        set(target, action)
    }

    /// A button that every system has.
    public convenience init(barButtonSystemItem systemItem: SystemItem, target: Any?, action: Selector?) {
        self.init()
        set(target, action)
    }

    /// A button with a view of the app's.
    public convenience init(customView: UIView) {
        self.init()
        self.customView = customView
    }

    private func set(_ target: Any?, _ action: Selector?) {
        self.target = target as? NSObject
        self.action = action
    }
}

/// The tab of a controller; never seen.
@preconcurrency @MainActor
open class UITabBarItem: UIBarItem {
    /// The text on the tab; kept, and without effect.
    open var badgeValue: String?
    /// Kept, and without effect.
    open var selectedImage: UIImage?

    /// A tab with a title and a picture.
    public convenience init(title: String?, image: UIImage?, tag: Int) {
        self.init()
        self.title = title
        self.image = image
        self.tag = tag
    }

    /// A tab with a title and two pictures.
    public convenience init(title: String?, image: UIImage?, selectedImage: UIImage?) {
        self.init(title: title, image: image, tag: 0)
        self.selectedImage = selectedImage
    }
}
