import Foundation

/// The base of app delegates.
@MainActor
open class UIResponder: NSObject {
    /// Required, because the app's main function makes the delegate of its type.
    public required override init() { super.init() }
}
