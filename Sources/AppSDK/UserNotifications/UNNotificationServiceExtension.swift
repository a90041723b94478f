import Foundation

/// The base of a program that changes remote notifications before they are shown.
///
/// The agent starts the program. It makes a new object of this class for each notification; the calls of one object
/// come on different threads.
open class UNNotificationServiceExtension: NSObject {
    /// Required, because the program's host makes the object of its class.
    public required override init() { super.init() }

    /// Changes a notification; what the handler is given first is shown. Unless it is overridden, nothing is changed.
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// The time is almost over: the handler must be given what there is. Unless it is overridden, does nothing.
    ///
    /// Called on another thread than the other method, which may not have returned.
    open func serviceExtensionTimeWillExpire() {}

    /// Runs the program, for `@main` and for a `main.swift`; it does not return. Not in Apple's API, where the system
    /// has the main function.
    ///
    /// It runs the class that the app's manifest names as `principalClass` (`Module.Class`), and without one the class
    /// that it is called on.
    public class func main() {
        let environment = ProcessInfo.processInfo.environment
        guard environment["ALDABA_ROLE"] == "serviceExtension" else {
            stop("the agent starts a service extension; install it with its app's manifest, as `serviceExtension`")
        }
        var principal: UNNotificationServiceExtension.Type = self
        if let name = environment["ALDABA_PRINCIPAL_CLASS"] {
            guard let named = NSClassFromString(name) as? UNNotificationServiceExtension.Type else {
                stop("its manifest's `principalClass` must name a UNNotificationServiceExtension, and not `\(name)`")
            }
            principal = named
        }
        ServiceExtensionHost.run(principal)
    }

    private static func stop(_ sentence: String) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("aldaba: \(sentence)\n".utf8))
        exit(78)
    }
}
