// The forms of the guide's own code: methods with a completion handler, and listeners that receive the sender too.
// Completion handlers and listeners are called on a queue of the library's.

@available(*, deprecated, message: "subscribe to the event")
extension RemoteSystemWatcher {
    /// The guide's form of a listener for ``remoteSystemAdded``, with the watcher.
    public func addRemoteSystemAddedListener(
        _ listener: @escaping @Sendable (RemoteSystemWatcher, RemoteSystem) -> Void
    ) -> EventSubscription { subscribe(to: remoteSystemAdded, listener) }

    /// The guide's form of a listener for ``remoteSystemUpdated``, with the watcher.
    public func addRemoteSystemUpdatedListener(
        _ listener: @escaping @Sendable (RemoteSystemWatcher, RemoteSystem) -> Void
    ) -> EventSubscription { subscribe(to: remoteSystemUpdated, listener) }

    /// The guide's form of a listener for ``remoteSystemRemoved``, with the watcher.
    public func addRemoteSystemRemovedListener(
        _ listener: @escaping @Sendable (RemoteSystemWatcher, RemoteSystem) -> Void
    ) -> EventSubscription { subscribe(to: remoteSystemRemoved, listener) }

    /// The guide's form of a listener for ``enumerationCompleted``, with the watcher.
    public func addEnumerationCompletedListener(
        _ listener: @escaping @Sendable (RemoteSystemWatcher) -> Void
    ) -> EventSubscription { subscribe(to: enumerationCompleted) { watcher, _ in listener(watcher) } }

    /// The guide's form of a listener for ``errorOccurred``, with the watcher.
    public func addErrorOccurredListener(
        _ listener: @escaping @Sendable (RemoteSystemWatcher, RemoteSystemWatcherError) -> Void
    ) -> EventSubscription { subscribe(to: errorOccurred, listener) }

    private func subscribe<Value>(
        to event: ConnectedDevicesEvent<Value>, _ listener: @escaping @Sendable (RemoteSystemWatcher, Value) -> Void
    ) -> EventSubscription {
        event.subscribe { [weak self] value in if let self { listener(self, value) } }
    }
}

extension RemoteSystem {
    /// The guide's name of ``apps``.
    @available(*, deprecated, renamed: "apps") public func getApplications() -> [RemoteSystemApp] { apps }
}

@available(*, deprecated, message: "use the method without Async")
extension RemoteLauncher {
    /// The guide's form of ``launchUri(_:with:options:inputData:as:within:)``.
    ///
    /// - Parameter completion: Receives the outcome; the error is always `nil`.
    public func launchUriAsync(
        _ uri: String, with request: RemoteSystemConnectionRequest,
        options: RemoteLauncherOptions? = nil,
        completion: (@Sendable (RemoteLaunchUriStatus, (any Error)?) -> Void)? = nil
    ) {
        Task {
            let status = await launchUri(uri, with: request, options: options ?? RemoteLauncherOptions())
            completion?(status, nil)
        }
    }
}

@available(*, deprecated, message: "use the method without Async")
extension AppServiceConnection {
    /// The guide's form of ``openRemote(_:as:within:)``.
    ///
    /// - Parameter completion: Receives the outcome. The error is an ``AppServiceConnectionError`` where the connection
    ///   was opened before, or has no service; the status is then `unknown`.
    public func openRemoteAsync(
        _ request: RemoteSystemConnectionRequest,
        completion: @escaping @Sendable (AppServiceConnectionStatus, (any Error)?) -> Void
    ) {
        Task {
            do { completion(try await openRemote(request), nil) } catch { completion(.unknown, error) }
        }
    }

    /// The guide's form of ``sendMessage(_:as:within:limit:)``.
    ///
    /// - Parameter completion: Receives the response; the error is always `nil`.
    public func sendMessageAsync(
        _ message: ValueSet, completion: @escaping @Sendable (AppServiceResponse, (any Error)?) -> Void
    ) {
        Task { completion(await sendMessage(message), nil) }
    }
}

extension AppServiceConnection {
    /// The guide's name of ``appServiceInfo``.
    @available(*, deprecated, renamed: "appServiceInfo")
    public var appServiceDescription: AppServiceInfo? {
        get { appServiceInfo }
        set { appServiceInfo = newValue }
    }

    /// The guide's form of a listener for ``serviceClosed``, with the connection.
    @available(*, deprecated, message: "subscribe to the event")
    public func addServiceClosedListener(
        _ listener: @escaping @Sendable (AppServiceConnection, AppServiceClosedStatus) -> Void
    ) -> EventSubscription {
        serviceClosed.subscribe { [weak self] status in if let self { listener(self, status) } }
    }

    /// The guide's form of a listener for ``requestReceived``, with the connection.
    @available(*, deprecated, message: "subscribe to the event")
    public func addRequestReceivedListener(
        _ listener: @escaping @Sendable (AppServiceConnection, AppServiceRequest) -> Void
    ) -> EventSubscription {
        requestReceived.subscribe { [weak self] request in if let self { listener(self, request) } }
    }
}

extension AppServiceRequest {
    /// The request itself, as the event's arguments have it.
    public var request: AppServiceRequest { self }
}
