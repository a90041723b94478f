import PushCore

/// Serves `org.unifiedpush.Distributor` on the session bus, and calls apps' `org.unifiedpush.Connector`; a port.
///
/// Every function returns at once. Closures are called on any thread, and not after ``stop()``.
package protocol PushDistributor: Sendable {
    /// Begins to serve; events are reported in the order in which they came.
    func start(events: @escaping @Sendable (PushDistributorEvent) -> Void)
    /// Answers a call of `Register`.
    func answer(_ call: UnifiedPushCall, _ failure: UnifiedPushFailure?)
    /// Has ``PushDistributorEvent/appeared(service:)`` reported whenever a program takes over this bus name.
    func watch(service: String)
    /// Ends ``watch(service:)``.
    func unwatch(service: String)
    /// Tells an app its endpoint.
    func sendEndpoint(of registration: UnifiedPushRegistration)
    /// Tells an app that a registration has ended; `isConfirmation`: since the app has ended it.
    func sendUnregistered(_ registration: UnifiedPushRegistration, isConfirmation: Bool)
    /// Delivers a message; the bus starts the app where it does not run and has a service file.
    ///
    /// - Parameter complete: Called exactly once, within half a minute; not after ``stop()``.
    func deliver(
        _ message: UnifiedPushMessage, version: UnifiedPushVersion,
        then complete: @escaping @Sendable (UnifiedPushOutcome) -> Void)
    /// Ends.
    func stop()
}

/// An event on the session bus.
package enum PushDistributorEvent: Sendable {
    /// An app calls `Register`, with arguments that were checked.
    case register(UnifiedPushRegister, UnifiedPushCall)
    /// An app calls `Unregister`; the call was answered.
    case unregister(token: String)
    /// A program has taken over the bus name of an app.
    case appeared(service: String)
}

/// The outcome of a message's delivery.
package enum UnifiedPushOutcome: Hashable, Sendable {
    /// The app has answered.
    case taken
    /// The app runs, and answered with this error.
    case refused(error: String)
    /// The app was called, and did not answer in time.
    case unanswered
    /// No program has the bus name, and the bus cannot start one; or the bus itself is gone.
    case unreachable(reason: String)
}
