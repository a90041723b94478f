import Foundation
import RelayWire
import Synchronization

/// By which push service an app is woken.
public enum ConnectedDevicesNotificationType: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unknown = 0, wns = 1, gcm = 2, fcm = 3, apn = 4, polling = 5
}

/// Where an app's registration for waking stands.
public enum ConnectedDevicesNotificationRegistrationState: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unregistered = 0, registered = 1, expiring = 2, expired = 3
}

/// By what an app wants to be woken. The agent of this device wakes its apps by itself, so the token is of no use here: it is
/// kept for code that reads it back, and goes nowhere.
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

/// Where the registration of an account stands now.
public struct ConnectedDevicesNotificationRegistrationStateChangedEventArgs: Sendable {
    /// Whose registration it is.
    public let account: ConnectedDevicesAccount
    /// Where it stands.
    public let state: ConnectedDevicesNotificationRegistrationState
}

/// The registrations for waking. A step of Rome's guide before anything is published; here it asks whether the agent, which does the
/// waking, is there.
public final class ConnectedDevicesNotificationRegistrationManager: Sendable {
    private let accounts: ConnectedDevicesAccountManager
    private let client: RelayClient
    private let registered = Mutex<[String: ConnectedDevicesNotificationRegistration]>([:])

    /// A registration is made. What the agent does never expires, so nothing else is told.
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

    /// Where an account's registration stands: `registered` or `unregistered`.
    public func registrationState(
        for account: ConnectedDevicesAccount = .device
    ) -> ConnectedDevicesNotificationRegistrationState {
        isKnown(account) && registered.withLock { $0[account.accountId] } != nil ? .registered : .unregistered
    }

    private func isKnown(_ account: ConnectedDevicesAccount) -> Bool {
        accounts.accounts.contains { $0.accountId == account.accountId }
    }
}

/// A push that is the library's, and not the app's. Such pushes come to this device's agent, which takes them itself: none comes to an
/// app.
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
    /// Handles a push of the library's; there is none that could come here.
    public func processNotification(
        _ notification: ConnectedDevicesNotification
    ) -> ConnectedDevicesProcessNotificationOperation {
        ConnectedDevicesProcessNotificationOperation()
    }
}

/// The guide's older way of handing over a push.
@available(*, deprecated, message: "pushes of the library's come to the agent")
public enum MCDNotificationReceiver {
    /// Takes a push that came to the app, and leaves it alone: it is the app's own.
    public static func receiveNotification(_ userInfo: [AnyHashable: Any]) {}
}
