// Names of the same calls in Rome's other libraries: iOS' change log, and Windows' own.

extension AppServiceResponseStatus {
    /// The iOS library's name of ``messageSizeTooLarge``.
    public static let messageTooLarge = AppServiceResponseStatus.messageSizeTooLarge
    /// Windows' name of ``connectionClosed``.
    public static let appUnavailable = AppServiceResponseStatus.connectionClosed
}

extension RemoteSystemApp {
    /// The later iOS library's name of ``id``.
    public var identifier: String { id }
    /// The iOS library's name of ``isAvailableByProximity``.
    public var availableByProximity: Bool { isAvailableByProximity }
    /// The iOS library's name of ``isAvailableBySpatialProximity``.
    public var availableBySpatialProximity: Bool { isAvailableBySpatialProximity }
    /// The accounts by which the app is found: this device's.
    public var accounts: [ConnectedDevicesAccount] { [.device] }
}

extension RemoteSystem {
    /// Windows' factory of a watcher.
    public static func createWatcher(filters: [RemoteSystemFilter] = []) -> RemoteSystemWatcher {
        RemoteSystemWatcher(filters: filters)
    }

    /// Whether devices of an authorization kind can be found: those of the same user always, and another person's by
    /// its id (``find(id:)``).
    public static func isAuthorizationKindEnabled(_ kind: RemoteSystemAuthorizationKind) -> Bool { true }

    /// Windows' form of ``supportsCapability(_:)``.
    public func getCapabilitySupported(_ capability: String) async -> Bool { supportsCapability(capability) }

    /// Finds this person's only device of a name: agents name devices by their hosts unless configured otherwise.
    ///
    /// - Returns: `nil` where no device has this name, or more than one has it, or devices cannot be found now.
    public static func findByHostName(_ hostName: String) async -> RemoteSystem? {
        let watcher = RemoteSystemWatcher()
        defer { watcher.stop() }
        let (found, end) = AsyncStream.makeStream(of: RemoteSystem.self)
        watcher.remoteSystemAdded.subscribe { system in
            if system.displayName == hostName { end.yield(system) }
        }
        watcher.enumerationCompleted.subscribe { _ in end.finish() }
        watcher.errorOccurred.subscribe { _ in end.finish() }
        watcher.start()
        var all: [RemoteSystem] = []
        for await system in found { all.append(system) }
        return all.count == 1 ? all[0] : nil
    }
}

extension RemoteSystemConnectionRequest {
    /// Windows' form of ``init(remoteSystemApp:)``.
    public static func createForApp(_ app: RemoteSystemApp) -> RemoteSystemConnectionRequest {
        RemoteSystemConnectionRequest(remoteSystemApp: app)
    }

    /// Windows' form of ``init(connectionToken:)``.
    public static func createFromConnectionToken(_ token: String) -> RemoteSystemConnectionRequest? {
        RemoteSystemConnectionRequest(connectionToken: token)
    }
}

extension ConnectedDevicesPlatform {
    /// The SDK's name of ``shutdown()``; all is closed when it returns.
    public func shutdownAsync() async { shutdown() }
}
