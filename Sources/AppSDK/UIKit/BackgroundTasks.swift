import Foundation

/// Names a task that goes on in the background.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// A number that is not used twice.
    public let rawValue: Int
    /// A number that is not used twice.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// No task.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// The background tasks that an app has begun. An app on Linux is not suspended, so they have no effect.
struct BackgroundTasks {
    private var lastNumber = 0
    private(set) var open: Set<UIBackgroundTaskIdentifier> = []

    mutating func begin() -> UIBackgroundTaskIdentifier {
        lastNumber += 1
        let task = UIBackgroundTaskIdentifier(rawValue: lastNumber)
        open.insert(task)
        return task
    }

    mutating func end(_ task: UIBackgroundTaskIdentifier) { open.remove(task) }
}

extension UIApplication {
    /// Names a task. The app goes on in the background without it; the handler is never called.
    public func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { backgroundTasks.begin() }

    /// Names a task. The app goes on in the background without it; the handler is never called.
    public func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { backgroundTasks.begin() }

    /// Ends a task; an unknown identifier is ignored.
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { backgroundTasks.end(identifier) }

    /// The greatest number there is: an app on Linux is not suspended.
    public var backgroundTimeRemaining: TimeInterval { .greatestFiniteMagnitude }
}
