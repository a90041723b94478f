import Foundation

/// The base of app delegates.
@preconcurrency @MainActor
open class UIResponder: NSObject {
    /// Required, because the app's main function makes the delegate of its type.
    public required override init() { super.init() }
}

/// What can take up an activity. Nothing does on Linux.
public protocol UIUserActivityRestoring: NSObjectProtocol {}

/// The type of an activity that is a page in a browser.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

/// Something that a person was doing, to be gone on with elsewhere. No activity is handed over on Linux.
open class NSUserActivity: NSObject {
    /// What kind of activity it is.
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
