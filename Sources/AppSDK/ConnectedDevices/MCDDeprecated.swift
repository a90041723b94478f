// Names that only the guide's generation of the SDK (0.x) has.

/// The state of an app's registration for discovery.
@available(*, deprecated, message: "publish() says what came of it")
public enum MCDCloudRegistrationStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case notStarted = 0, inProgress = 1, succeeded = 2, failed = 3
}

/// The outcome of a request for an access token.
@available(*, deprecated, message: "the agent has its own credential")
public enum MCDAccessTokenRequestStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case success = 0, transientError = 1
}

/// An answer to a question for an access token.
@available(*, deprecated, message: "the agent has its own credential")
public struct MCDAccessTokenResult: Sendable {
    /// The outcome of the request.
    public let status: MCDAccessTokenRequestStatus
    /// The token; empty where there is none.
    public let accessToken: String

    /// Answers a question.
    public init(status: MCDAccessTokenRequestStatus, accessToken: String = "") {
        self.status = status
        self.accessToken = accessToken
    }
}

/// Provides accounts and their tokens. The agent has its own credential, so only ``userAccounts`` is read; no method is
/// called.
@available(*, deprecated, message: "add accounts to ConnectedDevicesAccountManager")
public protocol MCDUserAccountProvider: Sendable {
    /// The accounts.
    var userAccounts: [ConnectedDevicesAccount] { get }
    /// Gets a token; never called.
    func getAccessToken(forUserAccountId accountId: String, scopes: [String]) async -> MCDAccessTokenResult
    /// A token is of no use any more; never called.
    func onAccessTokenError(forUserAccountId accountId: String, scopes: [String], isPermanentError: Bool)
}

@available(*, deprecated, message: "subscribe to events")
extension ConnectedDevicesPlatform {
    /// Adds the accounts of a provider.
    public func addAccounts(of provider: some MCDUserAccountProvider) async {
        for account in provider.userAccounts { _ = await accountManager.add(account) }
    }
}

@available(*, deprecated, message: "subscribe to the event")
extension RemoteSystemWatcher {
    /// Subscribes to ``remoteSystemAdded``.
    public func addRemoteSystemAddedListener(
        _ listener: @escaping @Sendable (RemoteSystem) -> Void
    ) -> EventSubscription { remoteSystemAdded.subscribe(listener) }
    /// Ends what the method of the same event began.
    public func removeRemoteSystemAddedListener(_ token: EventSubscription) { token.cancel() }

    /// Subscribes to ``remoteSystemUpdated``.
    public func addRemoteSystemUpdatedListener(
        _ listener: @escaping @Sendable (RemoteSystem) -> Void
    ) -> EventSubscription { remoteSystemUpdated.subscribe(listener) }
    /// Ends what the method of the same event began.
    public func removeRemoteSystemUpdatedListener(_ token: EventSubscription) { token.cancel() }

    /// Subscribes to ``remoteSystemRemoved``.
    public func addRemoteSystemRemovedListener(
        _ listener: @escaping @Sendable (RemoteSystem) -> Void
    ) -> EventSubscription { remoteSystemRemoved.subscribe(listener) }
    /// Ends what the method of the same event began.
    public func removeRemoteSystemRemovedListener(_ token: EventSubscription) { token.cancel() }

    /// Subscribes to ``enumerationCompleted``.
    public func addEnumerationCompletedListener(_ listener: @escaping @Sendable () -> Void) -> EventSubscription {
        enumerationCompleted.subscribe { listener() }
    }
    /// Ends what the method of the same event began.
    public func removeEnumerationCompletedListener(_ token: EventSubscription) { token.cancel() }

    /// Subscribes to ``errorOccurred``.
    public func addErrorOccurredListener(
        _ listener: @escaping @Sendable (RemoteSystemWatcherError) -> Void
    ) -> EventSubscription { errorOccurred.subscribe(listener) }
    /// Ends what the method of the same event began.
    public func removeErrorOccurredListener(_ token: EventSubscription) { token.cancel() }
}

@available(*, deprecated, message: "subscribe to the event")
extension AppServiceConnection {
    /// Subscribes to ``requestReceived``.
    public func addRequestReceivedListener(
        _ listener: @escaping @Sendable (AppServiceRequest) -> Void
    ) -> EventSubscription { requestReceived.subscribe(listener) }
    /// Ends what the method of the same event began.
    public func removeRequestReceivedListener(_ token: EventSubscription) { token.cancel() }

    /// Subscribes to ``serviceClosed``.
    public func addServiceClosedListener(
        _ listener: @escaping @Sendable (AppServiceClosedStatus) -> Void
    ) -> EventSubscription { serviceClosed.subscribe(listener) }
    /// Ends what the method of the same event began.
    public func removeServiceClosedListener(_ token: EventSubscription) { token.cancel() }
}
