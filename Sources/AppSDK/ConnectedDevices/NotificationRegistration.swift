import Foundation
import RelayProtocol
import Synchronization

/// The push service that wakes an app.
public enum ConnectedDevicesNotificationType: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unknown = 0, wns = 1, gcm = 2, fcm = 3, apn = 4, polling = 5
}

/// The state of an app's registration for waking.
public enum ConnectedDevicesNotificationRegistrationState: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unregistered = 0, registered = 1, expiring = 2, expired = 3
}

/// The push service and token by which an app is woken. This device's agent wakes its apps without them. The token is
/// kept for code that reads it back, and is never sent.
public struct ConnectedDevicesNotificationRegistration: Hashable, Sendable {
    /// The push service.
    public var type: ConnectedDevicesNotificationType
    /// The app's token there.
    public var token: String
    /// The app's name there.
    public var appId: String
    /// The app's name for people.
    public var appDisplayName: String

    /// Describes a registration.
    public init(
        type: ConnectedDevicesNotificationType = .polling, token: String = "", appId: String = "",
        appDisplayName: String = ""
    ) {
        self.type = type
        self.token = token
        self.appId = appId
        self.appDisplayName = appDisplayName
    }
}

/// The new state of an account's registration.
public struct ConnectedDevicesNotificationRegistrationStateChangedEventArgs: Sendable {
    /// The account of the registration.
    public let account: ConnectedDevicesAccount
    /// The registration's state.
    public let state: ConnectedDevicesNotificationRegistrationState
}

/// The registrations for waking. In Rome's guide a step before publishing; here it checks that the agent, which wakes
/// the app, is running.
public final class ConnectedDevicesNotificationRegistrationManager: Sendable {
    private let accounts: ConnectedDevicesAccountManager
    private let client: RelayClient
    private let registered = Mutex<[String: ConnectedDevicesNotificationRegistration]>([:])

    /// An account was registered. Registrations with the agent never expire, so no other change is sent.
    public let registrationStateChanged = ConnectedDevicesEvent<
        ConnectedDevicesNotificationRegistrationStateChangedEventArgs
    >()

    init(_ accounts: ConnectedDevicesAccountManager, client: RelayClient) {
        self.accounts = accounts
        self.client = client
    }

    /// Registers for an account, in place of what was registered for it.
    ///
    /// - Returns: ``ConnectedDevicesNotificationRegistrationStatus/errorAccountNotFound`` for one that was not added,
    ///   `errorNoNetwork` where the agent cannot be reached.
    public func register(
        _ registration: ConnectedDevicesNotificationRegistration, for account: ConnectedDevicesAccount = .device
    ) async -> ConnectedDevicesNotificationRegistrationStatus {
        guard isKnown(account) else { return .errorAccountNotFound }
        guard await client.ask({ .life(request: $0, id: UUID()) }) != nil else { return .errorNoNetwork }
        registered.withLock { $0[account.accountId] = registration }
        registrationStateChanged.fire(.init(account: account, state: .registered))
        return .success
    }

    /// The state of an account's registration: `registered` or `unregistered`.
    public func registrationState(
        for account: ConnectedDevicesAccount = .device
    ) -> ConnectedDevicesNotificationRegistrationState {
        isKnown(account) && registered.withLock { $0[account.accountId] } != nil ? .registered : .unregistered
    }

    private func isKnown(_ account: ConnectedDevicesAccount) -> Bool {
        accounts.accounts.contains { $0.accountId == account.accountId }
    }
}

/// A push for the library, and not for the app. Such pushes go to this device's agent, which handles them: none reaches
/// an app.
public struct ConnectedDevicesNotification: Sendable {
    private init() {}

    /// Reads a push that came to the app.
    ///
    /// - Returns: `nil`: it is the app's own.
    public static func tryParse(_ userInfo: [AnyHashable: Any]) -> ConnectedDevicesNotification? { nil }
}

/// The handling of a push that came to the app.
public struct ConnectedDevicesProcessNotificationOperation: Sendable {
    init() {}

    /// Whether it was the library's; see ``ConnectedDevicesNotification``.
    public var isConnectedDevicesNotification: Bool { false }
    /// Returns when the push is handled: at once.
    public func waitForCompletion() async {}
}

extension ConnectedDevicesPlatform {
    /// Handles a push for the library; none can arrive here.
    public func processNotification(
        _ notification: ConnectedDevicesNotification
    ) -> ConnectedDevicesProcessNotificationOperation {
        ConnectedDevicesProcessNotificationOperation()
    }
}

/// The older form of passing a push to the library.
@available(*, deprecated, message: "pushes of the library's come to the agent")
public enum MCDNotificationReceiver {
    /// Takes a push that came to the app, and leaves it alone: it is the app's own.
    public static func receiveNotification(_ userInfo: [AnyHashable: Any]) {}
}
