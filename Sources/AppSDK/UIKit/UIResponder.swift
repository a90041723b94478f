import Foundation

/// The base of app delegates.
@preconcurrency @MainActor
open class UIResponder: NSObject {
    /// Required, because the app's main function makes the delegate of its type.
    public required override init() { super.init() }
}

/// An object that can continue an activity. On Linux no object is asked to.
public protocol UIUserActivityRestoring: NSObjectProtocol {}

/// The type of an activity that is a page in a browser.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

/// An activity of the person, to be continued elsewhere. No activity is continued on Linux.
open class NSUserActivity: NSObject {
    /// The activity's type.
    public let activityType: String
    /// Kept.
    open var title: String?
    /// Kept.
    open var userInfo: [AnyHashable: Any]?
    /// Kept.
    open var webpageURL: URL?

    /// An activity of this kind.
    public init(activityType: String) { self.activityType = activityType }
}
