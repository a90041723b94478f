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
