// The names with Rome's prefix, and the guide's older ones.

/// The name with the prefix.
public typealias MCDConnectedDevicesPlatform = ConnectedDevicesPlatform
/// The name with the prefix.
public typealias MCDConnectedDevicesAccount = ConnectedDevicesAccount
/// The name with the prefix.
public typealias MCDConnectedDevicesAccountType = ConnectedDevicesAccountType
/// The name with the prefix.
public typealias MCDConnectedDevicesAccountManager = ConnectedDevicesAccountManager
/// The name with the prefix.
public typealias MCDConnectedDevicesAccountAddedStatus = ConnectedDevicesAccountAddedStatus
/// The name with the prefix.
public typealias MCDConnectedDevicesAccessTokenRequest = ConnectedDevicesAccessTokenRequest
/// The name with the prefix.
public typealias MCDConnectedDevicesAccessTokenInvalidatedEventArgs = ConnectedDevicesAccessTokenInvalidatedEventArgs
/// The name with the prefix.
public typealias MCDConnectedDevicesNotificationRegistrationStateChangedEventArgs =
    ConnectedDevicesNotificationRegistrationStateChangedEventArgs
/// The name with the prefix.
public typealias MCDConnectedDevicesNotificationRegistrationStatus = ConnectedDevicesNotificationRegistrationStatus
/// The name with the prefix.
public typealias MCDEvent = ConnectedDevicesEvent
/// The name with the prefix.
public typealias MCDEventSubscription = EventSubscription
/// The name with the prefix.
public typealias MCDRemoteSystem = RemoteSystem
/// The name with the prefix.
public typealias MCDRemoteSystemApp = RemoteSystemApp
/// The name with the prefix.
public typealias MCDRemoteSystemAppRegistration = RemoteSystemAppRegistration
/// The name with the prefix.
public typealias MCDRemoteSystemConnectionRequest = RemoteSystemConnectionRequest
/// The name with the prefix.
public typealias MCDRemoteSystemFilter = RemoteSystemFilter
/// The name with the prefix.
public typealias MCDRemoteSystemKinds = RemoteSystemKinds
/// The name with the prefix.
public typealias MCDRemoteSystemPlatform = RemoteSystemPlatform
/// The name with the prefix.
public typealias MCDRemoteSystemStatus = RemoteSystemStatus
/// The name with the prefix.
public typealias MCDRemoteSystemWatcher = RemoteSystemWatcher
/// The name with the prefix.
public typealias MCDRemoteSystemWatcherError = RemoteSystemWatcherError
/// The name with the prefix.
public typealias MCDRemoteLauncher = RemoteLauncher
/// The name with the prefix.
public typealias MCDRemoteLauncherOptions = RemoteLauncherOptions
/// The name with the prefix.
public typealias MCDRemoteLaunchUriStatus = RemoteLaunchUriStatus
/// The name with the prefix.
public typealias MCDLaunchUriProvider = LaunchUriProvider
/// The name with the prefix.
public typealias MCDAppServiceInfo = AppServiceInfo
/// The name with the prefix.
public typealias MCDAppServiceProvider = AppServiceProvider
/// The name with the prefix.
public typealias MCDAppServiceConnection = AppServiceConnection
/// The name with the prefix.
public typealias MCDAppServiceConnectionOpenedInfo = AppServiceConnectionOpenedInfo
/// The name with the prefix.
public typealias MCDAppServiceConnectionStatus = AppServiceConnectionStatus
/// The name with the prefix.
public typealias MCDAppServiceClosedStatus = AppServiceClosedStatus
/// The name with the prefix.
public typealias MCDAppServiceRequest = AppServiceRequest
/// The name with the prefix.
public typealias MCDAppServiceResponse = AppServiceResponse
/// The name with the prefix.
public typealias MCDAppServiceResponseStatus = AppServiceResponseStatus
/// The name with the prefix.
public typealias MCDStatelessAppServiceResponse = StatelessAppServiceResponse
/// The name with the prefix.
public typealias MCDStatelessAppServiceResponseStatus = StatelessAppServiceResponseStatus
/// The name with the prefix.
public typealias MCDConnectedDevicesNotification = ConnectedDevicesNotification
/// The name with the prefix.
public typealias MCDConnectedDevicesNotificationRegistration = ConnectedDevicesNotificationRegistration
/// The name with the prefix.
public typealias MCDConnectedDevicesNotificationRegistrationManager = ConnectedDevicesNotificationRegistrationManager
/// The name with the prefix.
public typealias MCDConnectedDevicesNotificationRegistrationState = ConnectedDevicesNotificationRegistrationState
/// The name with the prefix.
public typealias MCDConnectedDevicesNotificationType = ConnectedDevicesNotificationType
/// The name with the prefix.
public typealias MCDConnectedDevicesProcessNotificationOperation = ConnectedDevicesProcessNotificationOperation
/// The name with the prefix.
public typealias MCDRemoteSystemAccessStatus = RemoteSystemAccessStatus
/// The name with the prefix.
public typealias MCDKnownRemoteSystemCapabilities = KnownRemoteSystemCapabilities
/// The name with the prefix.
public typealias MCDRemoteSystemKindFilter = RemoteSystemKindFilter
/// The name with the prefix.
public typealias MCDRemoteSystemStatusTypeFilter = RemoteSystemStatusTypeFilter
/// The name with the prefix.
public typealias MCDRemoteSystemStatusType = RemoteSystemStatusType
/// The name with the prefix.
public typealias MCDRemoteSystemDiscoveryTypeFilter = RemoteSystemDiscoveryTypeFilter
/// The name with the prefix.
public typealias MCDRemoteSystemDiscoveryType = RemoteSystemDiscoveryType
/// The name with the prefix.
public typealias MCDRemoteSystemAuthorizationKindFilter = RemoteSystemAuthorizationKindFilter
/// The name with the prefix.
public typealias MCDRemoteSystemAuthorizationKind = RemoteSystemAuthorizationKind
/// The name with the prefix.
public typealias MCDRemoteSystemLocalVisibilityKindFilter = RemoteSystemLocalVisibilityKindFilter
/// The name with the prefix.
public typealias MCDRemoteSystemLocalVisibilityKind = RemoteSystemLocalVisibilityKind
/// The name with the prefix.
public typealias MCDRemoteSystemAccountFilter = RemoteSystemAccountFilter
/// The name with the prefix.
public typealias MCDRemoteSystemPlatformFilter = RemoteSystemPlatformFilter

/// The guide's older name.
@available(*, deprecated, renamed: "ConnectedDevicesPlatform") public typealias MCDPlatform = ConnectedDevicesPlatform
/// The guide's older name.
@available(*, deprecated, renamed: "RemoteSystemApp") public typealias MCDRemoteSystemApplication = RemoteSystemApp
/// The guide's older name.
@available(*, deprecated, renamed: "AppServiceInfo") public typealias MCDAppServiceDescription = AppServiceInfo

extension RemoteSystemConnectionRequest {
    /// The guide's older name of ``init(remoteSystemApp:)``.
    @available(*, deprecated, renamed: "init(remoteSystemApp:)")
    public init(remoteSystemApplication: RemoteSystemApp) { self.init(remoteSystemApp: remoteSystemApplication) }
}

extension AppServiceConnection {
    /// The guide's older name of ``sendStatelessMessage(_:to:request:as:within:limit:)``.
    @available(*, deprecated, renamed: "sendStatelessMessage(_:to:request:)")
    public static func sendSingleMessage(
        _ message: ValueSet, to info: AppServiceInfo, request: RemoteSystemConnectionRequest
    ) async -> StatelessAppServiceResponse {
        await sendStatelessMessage(message, to: info, request: request)
    }
}
