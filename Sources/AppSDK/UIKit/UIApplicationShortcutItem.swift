import Foundation

/// A command of the app's icon. It is kept; no desktop is given it, and none is ever performed.
@preconcurrency @MainActor
open class UIApplicationShortcutItem: NSObject {
    /// Names the command for the app.
    open fileprivate(set) var type: String
    /// The command's text.
    open fileprivate(set) var localizedTitle: String
    /// A second text.
    open fileprivate(set) var localizedSubtitle: String?
    /// A picture.
    open fileprivate(set) var icon: UIApplicationShortcutIcon?
    /// The app's own data.
    open fileprivate(set) var userInfo: [String: any NSSecureCoding]?

    /// A command.
    public init(
        type: String, localizedTitle: String, localizedSubtitle: String?, icon: UIApplicationShortcutIcon?,
        userInfo: [String: any NSSecureCoding]? = nil
    ) {
        self.type = type
        self.localizedTitle = localizedTitle
        self.localizedSubtitle = localizedSubtitle
        self.icon = icon
        self.userInfo = userInfo
    }

    /// A command with a title only.
    public convenience init(type: String, localizedTitle: String) {
        self.init(type: type, localizedTitle: localizedTitle, localizedSubtitle: nil, icon: nil)
    }
}

/// The picture of a command; kept, and never seen.
@preconcurrency @MainActor
open class UIApplicationShortcutIcon: NSObject {
    /// A picture of the app's.
    public init(templateImageName: String) { super.init() }
    /// A picture of the system's.
    public init(systemImageName: String) { super.init() }
}
