import AldabaTestSupport
import ConnectedDevices
import Foundation
import Testing

/// The module has every name that `Tests/Fixtures/rome/names.txt` lists, with and without the prefix, and the numbers.
@Suite struct RomeNamesTests {
    private static let types: [(name: String, plain: Any.Type, prefixed: Any.Type)] = [
        ("ConnectedDevicesPlatform", ConnectedDevicesPlatform.self, MCDConnectedDevicesPlatform.self),
        ("ConnectedDevicesAccount", ConnectedDevicesAccount.self, MCDConnectedDevicesAccount.self),
        ("ConnectedDevicesAccountType", ConnectedDevicesAccountType.self, MCDConnectedDevicesAccountType.self),
        ("ConnectedDevicesAccountManager", ConnectedDevicesAccountManager.self, MCDConnectedDevicesAccountManager.self),
        (
            "ConnectedDevicesAccountAddedStatus", ConnectedDevicesAccountAddedStatus.self,
            MCDConnectedDevicesAccountAddedStatus.self
        ),
        (
            "ConnectedDevicesAccessTokenRequest", ConnectedDevicesAccessTokenRequest.self,
            MCDConnectedDevicesAccessTokenRequest.self
        ),
        (
            "ConnectedDevicesAccessTokenInvalidatedEventArgs", ConnectedDevicesAccessTokenInvalidatedEventArgs.self,
            MCDConnectedDevicesAccessTokenInvalidatedEventArgs.self
        ),
        (
            "ConnectedDevicesNotificationRegistrationStateChangedEventArgs",
            ConnectedDevicesNotificationRegistrationStateChangedEventArgs.self,
            MCDConnectedDevicesNotificationRegistrationStateChangedEventArgs.self
        ),
        ("ConnectedDevicesNotification", ConnectedDevicesNotification.self, MCDConnectedDevicesNotification.self),
        (
            "ConnectedDevicesNotificationRegistration", ConnectedDevicesNotificationRegistration.self,
            MCDConnectedDevicesNotificationRegistration.self
        ),
        (
            "ConnectedDevicesNotificationRegistrationManager", ConnectedDevicesNotificationRegistrationManager.self,
            MCDConnectedDevicesNotificationRegistrationManager.self
        ),
        (
            "ConnectedDevicesNotificationRegistrationState", ConnectedDevicesNotificationRegistrationState.self,
            MCDConnectedDevicesNotificationRegistrationState.self
        ),
        (
            "ConnectedDevicesNotificationRegistrationStatus", ConnectedDevicesNotificationRegistrationStatus.self,
            MCDConnectedDevicesNotificationRegistrationStatus.self
        ),
        (
            "ConnectedDevicesNotificationType", ConnectedDevicesNotificationType.self,
            MCDConnectedDevicesNotificationType.self
        ),
        (
            "ConnectedDevicesProcessNotificationOperation", ConnectedDevicesProcessNotificationOperation.self,
            MCDConnectedDevicesProcessNotificationOperation.self
        ),
        ("EventSubscription", EventSubscription.self, MCDEventSubscription.self),
        ("RemoteSystem", RemoteSystem.self, MCDRemoteSystem.self),
        ("RemoteSystemApp", RemoteSystemApp.self, MCDRemoteSystemApp.self),
        ("RemoteSystemAppRegistration", RemoteSystemAppRegistration.self, MCDRemoteSystemAppRegistration.self),
        ("RemoteSystemConnectionRequest", RemoteSystemConnectionRequest.self, MCDRemoteSystemConnectionRequest.self),
        ("RemoteSystemKinds", RemoteSystemKinds.self, MCDRemoteSystemKinds.self),
        ("RemoteSystemPlatform", RemoteSystemPlatform.self, MCDRemoteSystemPlatform.self),
        ("RemoteSystemStatus", RemoteSystemStatus.self, MCDRemoteSystemStatus.self),
        ("RemoteSystemAccessStatus", RemoteSystemAccessStatus.self, MCDRemoteSystemAccessStatus.self),
        ("KnownRemoteSystemCapabilities", KnownRemoteSystemCapabilities.self, MCDKnownRemoteSystemCapabilities.self),
        ("RemoteSystemWatcher", RemoteSystemWatcher.self, MCDRemoteSystemWatcher.self),
        ("RemoteSystemWatcherError", RemoteSystemWatcherError.self, MCDRemoteSystemWatcherError.self),
        ("RemoteSystemFilter", RemoteSystemFilter.self, MCDRemoteSystemFilter.self),
        ("RemoteSystemKindFilter", RemoteSystemKindFilter.self, MCDRemoteSystemKindFilter.self),
        ("RemoteSystemStatusTypeFilter", RemoteSystemStatusTypeFilter.self, MCDRemoteSystemStatusTypeFilter.self),
        ("RemoteSystemStatusType", RemoteSystemStatusType.self, MCDRemoteSystemStatusType.self),
        (
            "RemoteSystemDiscoveryTypeFilter", RemoteSystemDiscoveryTypeFilter.self,
            MCDRemoteSystemDiscoveryTypeFilter.self
        ),
        ("RemoteSystemDiscoveryType", RemoteSystemDiscoveryType.self, MCDRemoteSystemDiscoveryType.self),
        (
            "RemoteSystemAuthorizationKindFilter", RemoteSystemAuthorizationKindFilter.self,
            MCDRemoteSystemAuthorizationKindFilter.self
        ),
        ("RemoteSystemAuthorizationKind", RemoteSystemAuthorizationKind.self, MCDRemoteSystemAuthorizationKind.self),
        (
            "RemoteSystemLocalVisibilityKindFilter", RemoteSystemLocalVisibilityKindFilter.self,
            MCDRemoteSystemLocalVisibilityKindFilter.self
        ),
        (
            "RemoteSystemLocalVisibilityKind", RemoteSystemLocalVisibilityKind.self,
            MCDRemoteSystemLocalVisibilityKind.self
        ),
        ("RemoteSystemAccountFilter", RemoteSystemAccountFilter.self, MCDRemoteSystemAccountFilter.self),
        ("RemoteSystemPlatformFilter", RemoteSystemPlatformFilter.self, MCDRemoteSystemPlatformFilter.self),
        ("RemoteLauncher", RemoteLauncher.self, MCDRemoteLauncher.self),
        ("RemoteLauncherOptions", RemoteLauncherOptions.self, MCDRemoteLauncherOptions.self),
        ("RemoteLaunchUriStatus", RemoteLaunchUriStatus.self, MCDRemoteLaunchUriStatus.self),
        ("LaunchUriProvider", (any LaunchUriProvider).self, (any MCDLaunchUriProvider).self),
        ("AppServiceInfo", AppServiceInfo.self, MCDAppServiceInfo.self),
        ("AppServiceProvider", (any AppServiceProvider).self, (any MCDAppServiceProvider).self),
        ("AppServiceConnection", AppServiceConnection.self, MCDAppServiceConnection.self),
        ("AppServiceConnectionOpenedInfo", AppServiceConnectionOpenedInfo.self, MCDAppServiceConnectionOpenedInfo.self),
        ("AppServiceConnectionStatus", AppServiceConnectionStatus.self, MCDAppServiceConnectionStatus.self),
        ("AppServiceClosedStatus", AppServiceClosedStatus.self, MCDAppServiceClosedStatus.self),
        ("AppServiceRequest", AppServiceRequest.self, MCDAppServiceRequest.self),
        ("AppServiceResponse", AppServiceResponse.self, MCDAppServiceResponse.self),
        ("AppServiceResponseStatus", AppServiceResponseStatus.self, MCDAppServiceResponseStatus.self),
        ("StatelessAppServiceResponse", StatelessAppServiceResponse.self, MCDStatelessAppServiceResponse.self),
        (
            "StatelessAppServiceResponseStatus", StatelessAppServiceResponseStatus.self,
            MCDStatelessAppServiceResponseStatus.self
        ),
    ]

    private static let enumerations: [String: [String: Int]] = [
        "ConnectedDevicesAccountType": numbers(ConnectedDevicesAccountType.self),
        "ConnectedDevicesAccountAddedStatus": numbers(ConnectedDevicesAccountAddedStatus.self),
        "ConnectedDevicesNotificationType": numbers(ConnectedDevicesNotificationType.self),
        "ConnectedDevicesNotificationRegistrationState": numbers(ConnectedDevicesNotificationRegistrationState.self),
        "ConnectedDevicesNotificationRegistrationStatus": numbers(ConnectedDevicesNotificationRegistrationStatus.self),
        "RemoteSystemStatus": numbers(RemoteSystemStatus.self),
        "RemoteSystemPlatform": numbers(RemoteSystemPlatform.self),
        "RemoteSystemAccessStatus": numbers(RemoteSystemAccessStatus.self),
        "RemoteSystemWatcherError": numbers(RemoteSystemWatcherError.self),
        "RemoteSystemStatusType": numbers(RemoteSystemStatusType.self),
        "RemoteSystemDiscoveryType": numbers(RemoteSystemDiscoveryType.self),
        "RemoteSystemAuthorizationKind": numbers(RemoteSystemAuthorizationKind.self),
        "RemoteSystemLocalVisibilityKind": numbers(RemoteSystemLocalVisibilityKind.self),
        "RemoteLaunchUriStatus": numbers(RemoteLaunchUriStatus.self),
        "AppServiceConnectionStatus": numbers(AppServiceConnectionStatus.self),
        "AppServiceResponseStatus": numbers(AppServiceResponseStatus.self),
        "StatelessAppServiceResponseStatus": numbers(StatelessAppServiceResponseStatus.self),
        "AppServiceClosedStatus": numbers(AppServiceClosedStatus.self),
    ]

    private static func numbers<Value: CaseIterable & RawRepresentable<Int>>(_: Value.Type) -> [String: Int] {
        // What is this library's own begins at 100.
        Dictionary(uniqueKeysWithValues: Value.allCases.filter { $0.rawValue < 100 }.map { ("\($0)", $0.rawValue) })
    }

    private static func lines() throws -> [String] {
        let file = Repository.fixture("rome/names.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#") }
    }

    @Test func `every type of Rome's is there by both of its names`() throws {
        let listed = try Self.lines().filter { !$0.contains(".") }
        #expect(listed.sorted() == Self.types.map(\.name).sorted())
        for type in Self.types {
            #expect(ObjectIdentifier(type.plain) == ObjectIdentifier(type.prefixed), "\(type.name)")
        }
    }

    @Test func `every value of Rome's enumerations is there under its number, and no other below 100`() throws {
        let listed = try Self.lines().filter { $0.contains(".") }
        let there = Self.enumerations.flatMap { type, values in values.map { "\(type).\($0.key) = \($0.value)" } }
        #expect(listed.sorted() == there.sorted())
    }
}

@Suite struct OlderNamesTests {
    @available(*, deprecated)
    @Test("The numbers of the guide's generation are kept")
    func numbers() {
        #expect(MCDCloudRegistrationStatus.allCases.map(\.rawValue) == [0, 1, 2, 3])
        #expect(MCDAccessTokenRequestStatus.allCases.map(\.rawValue) == [0, 1])
    }
}

// That it compiles is the test.
@available(*, deprecated) private func olderNames(_ app: RemoteSystemApp, _ system: RemoteSystem) async {
    let types: [Any.Type] = [
        MCDPlatform.self, MCDRemoteSystemApplication.self, MCDAppServiceDescription.self, MCDNotificationReceiver.self,
        MCDEvent<Int>.self, MCDEventSubscription.self, MCDCloudRegistrationStatus.self,
        MCDAccessTokenRequestStatus.self, (any MCDUserAccountProvider).self, MCDAccessTokenResult.self,
    ]
    let watcher = MCDRemoteSystemWatcher()
    watcher.removeRemoteSystemAddedListener(watcher.addRemoteSystemAddedListener { _ in })
    watcher.removeEnumerationCompletedListener(watcher.addEnumerationCompletedListener {})
    let request = MCDRemoteSystemConnectionRequest(remoteSystemApplication: app)
    let service = MCDAppServiceDescription(name: "s", packageId: app.applicationId)
    _ = (types, system.applications, system.systemId, app.appId)
    for token in [
        watcher.addRemoteSystemAddedListener { _, _ in }, watcher.addRemoteSystemUpdatedListener { _, _ in },
        watcher.addRemoteSystemRemovedListener { _, _ in }, watcher.addEnumerationCompletedListener { _ in },
        watcher.addErrorOccurredListener { _, _ in },
    ] { token.cancel() }
    MCDRemoteLauncher().launchUriAsync("s:", with: request, options: MCDRemoteLauncherOptions()) { _, _ in }
    MCDRemoteLauncher().launchUriAsync("s:", with: request) { status, error in _ = (status, error) }
    let connection = MCDAppServiceConnection()
    connection.appServiceDescription = service
    connection.removeServiceClosedListener(connection.addServiceClosedListener { _, _ in })
    connection.removeRequestReceivedListener(connection.addRequestReceivedListener { _, args in _ = args.request })
    connection.openRemoteAsync(request) { status, error in _ = (status, error) }
    connection.sendMessageAsync([:]) { response, error in _ = (response.message, error) }
    _ = system.getApplications()
    _ = await MCDAppServiceConnection.sendSingleMessage([:], to: service, request: request)
    _ = await MCDRemoteSystemAppRegistration.getForAccount().save()
}
