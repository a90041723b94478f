import Foundation

/// The base of a program that changes remote notifications before they are shown.
open class UNNotificationServiceExtension: NSObject {
    /// Required, because the program's host makes the object of its class.
    public required override init() { super.init() }

    /// Changes a notification; what the handler is given is shown. Unless it is overridden, nothing is changed.
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// The time is almost over: the handler must be given what there is. Unless it is overridden, does nothing.
    open func serviceExtensionTimeWillExpire() {}
}
