import Foundation
import RelayProtocol
import Synchronization

/// An account that devices belong to. A device's account is set with its agent (`aldaba relay account`): apps sign no
/// person in.
public final class ConnectedDevicesAccount: Sendable {
    /// The account's name for this app.
    public let accountId: String
    /// The account's type.
    public let type: ConnectedDevicesAccountType

    /// Names an account.
    public init(accountId: String, type: ConnectedDevicesAccountType) {
        self.accountId = accountId
        self.type = type
    }

    /// The anonymous account, which belongs to no person.
    public static let anonymousAccount = ConnectedDevicesAccount(accountId: "", type: .anonymous)
    /// The account that this device's agent belongs to.
    public static let device = ConnectedDevicesAccount(accountId: "device", type: .msa)
}

/// A request for an access token. The agent has its own credential, so none is sent: the event is kept for code that
/// subscribes to it.
public final class ConnectedDevicesAccessTokenRequest: Sendable {
    /// The account whose token is requested.
    public let account: ConnectedDevicesAccount
    /// The scopes for which the token is requested.
    public let scopes: [String]

    init(account: ConnectedDevicesAccount, scopes: [String]) {
        self.account = account
        self.scopes = scopes
    }

    /// The question itself, as the event's arguments have it.
    public var request: ConnectedDevicesAccessTokenRequest { self }

    /// Takes a token; it is not used.
    public func complete(withAccessToken token: String) {}
    /// Takes the reason why there is no token.
    public func complete(withErrorMessage message: String) {}
}

/// A token that is of no use any more.
public struct ConnectedDevicesAccessTokenInvalidatedEventArgs: Sendable {
    /// The account whose token has become invalid.
    public let account: ConnectedDevicesAccount
    /// The scopes of the token.
    public let scopes: [String]
}

/// The accounts of an app.
public final class ConnectedDevicesAccountManager: Sendable {
    private let known = Mutex<[ConnectedDevicesAccount]>([])

    init() {}

    /// A token is wanted; it never is.
    public let accessTokenRequested = ConnectedDevicesEvent<ConnectedDevicesAccessTokenRequest>()
    /// A token has become invalid; never sent.
    public let accessTokenInvalidated = ConnectedDevicesEvent<ConnectedDevicesAccessTokenInvalidatedEventArgs>()

    /// The accounts that were added.
    public var accounts: [ConnectedDevicesAccount] { known.withLock { $0 } }

    /// Adds an account.
    ///
    /// - Returns: ``ConnectedDevicesAccountAddedStatus/errorNoNetwork`` where the agent cannot be reached.
    public func add(_ account: ConnectedDevicesAccount) async -> ConnectedDevicesAccountAddedStatus {
        guard await RelayClient.shared.ask({ .life(request: $0, id: UUID()) }) != nil else { return .errorNoNetwork }
        known.withLock { known in
            if !known.contains(where: { $0.accountId == account.accountId }) { known.append(account) }
        }
        return .success
    }

    /// The SDK's name of ``accounts``.
    public var allAccounts: [ConnectedDevicesAccount] { accounts }
    /// The SDK's name of ``add(_:)``.
    public func addAccount(_ account: ConnectedDevicesAccount) async -> ConnectedDevicesAccountAddedStatus {
        await add(account)
    }
    /// The SDK's name of ``remove(_:)``.
    public func removeAccount(_ account: ConnectedDevicesAccount) { remove(account) }

    /// Takes an account away.
    public func remove(_ account: ConnectedDevicesAccount) {
        known.withLock { $0.removeAll { $0.accountId == account.accountId } }
    }
}

/// The library's beginning and end.
public final class ConnectedDevicesPlatform: Sendable {
    /// The platform of this process.
    public static let shared = ConnectedDevicesPlatform()

    /// The accounts of this app.
    public let accountManager: ConnectedDevicesAccountManager
    /// The registrations for waking this app.
    public let notificationRegistrationManager: ConnectedDevicesNotificationRegistrationManager

    /// A platform that is not started. All of a process share one connection to the agent.
    public init() {
        accountManager = ConnectedDevicesAccountManager()
        notificationRegistrationManager = ConnectedDevicesNotificationRegistrationManager(
            accountManager, client: .shared)
    }

    /// The SDK's initializer with a storage path. The agent keeps all state, so the path is not used.
    public convenience init(settings storagePath: String) { self.init() }

    /// Begins to connect to the agent. What is asked before that is answered as without a network.
    public func start() { RelayClient.shared.start() }

    /// Ends the connection. Connections to app services are closed, and both sides are notified.
    public func shutdown() { RelayClient.shared.stop() }
}

/// Opens addresses that other devices send to this app.
public protocol LaunchUriProvider: Sendable {
    /// The schemes that it opens; `nil` for all.
    var supportedUriSchemes: [String]? { get }
    /// Opens an address, and returns whether it did. Its task is cancelled when the result is not needed any more.
    func onLaunchUri(_ uri: String, options: RemoteLauncherOptions) async -> Bool
    /// Opens an address with what the caller gave beside it; without this method that is left out.
    func onLaunchUri(_ uri: String, options: RemoteLauncherOptions, inputData: ValueSet) async -> Bool
}

extension LaunchUriProvider {
    /// Opens the address alone.
    public func onLaunchUri(_ uri: String, options: RemoteLauncherOptions, inputData: ValueSet) async -> Bool {
        await onLaunchUri(uri, options: options)
    }
}

/// An app service that other devices may use.
public protocol AppServiceProvider: Sendable {
    /// The service that is provided; the app is always this one, whatever the package id is.
    var appServiceInfo: AppServiceInfo { get }
    /// Whether only devices may use it that the person has named (`aldaba relay grant`).
    var needsGrant: Bool { get }
    /// Whether other persons' devices may use it too, once this person has allowed it; not where ``needsGrant`` is set.
    var isOpenToAnyone: Bool { get }
    /// Another device sends a stream. Keep the object as long as the stream is needed; one that is not kept is refused.
    func streamDidArrive(_ stream: IncomingStream)
    /// Another device has opened a connection, or sends a request without one. Subscribe to the connection's events
    /// before this returns, and keep the connection as long as it is needed.
    func connectionDidOpen(_ info: AppServiceConnectionOpenedInfo)
}

extension AppServiceProvider {
    /// All of the person's devices may use the service.
    public var needsGrant: Bool { false }
    /// Devices of other persons may not use it.
    public var isOpenToAnyone: Bool { false }
    /// Refuses.
    public func streamDidArrive(_ stream: IncomingStream) { stream.refuse("the app takes no streams here") }
}

/// A connection that another device has opened.
public struct AppServiceConnectionOpenedInfo: Sendable {
    /// This app's end of it.
    public let connection: AppServiceConnection
    /// The id of the device that opened it.
    public let remoteSystemId: String
    /// The bundle id of the app that opened it; `nil` where it is not known.
    public let callerAppId: String?

    /// The app that opened it, as the target of requests; its services are not known. `nil` where the app is not known.
    public var remoteSystemApp: RemoteSystemApp? { callerAppId.map { RemoteSystemApp(id: $0, on: remoteSystemId) } }
}

/// The services, attributes and launcher that this app offers to this person's other devices.
public final class RemoteSystemAppRegistration: Sendable {
    private struct State {
        var attributes: [String: String] = [:]
        var providers: [any AppServiceProvider] = []
        var launcher: (any LaunchUriProvider)?
        var listener: Int?
        var isPublished = false
    }

    private let state = Mutex(State())
    private let connections = OpenedConnections()
    private static let own = RemoteSystemAppRegistration()

    private init() {}

    /// The registration of this app.
    public static func getForAccount(_ account: ConnectedDevicesAccount = .device) -> RemoteSystemAppRegistration {
        own
    }

    /// The attributes that the app publishes, together at most 4 KiB.
    public var attributes: [String: String] {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    /// The services that it offers, at most 32.
    public var appServiceProviders: [any AppServiceProvider] {
        get { state.withLock { $0.providers } }
        set { state.withLock { $0.providers = newValue } }
    }

    /// The handler that opens addresses; `nil` for an app that opens none.
    public var launchUriProvider: (any LaunchUriProvider)? {
        get { state.withLock { $0.launcher } }
        set { state.withLock { $0.launcher = newValue } }
    }

    /// Publishes the registration, and again whenever the connection to the agent was lost.
    ///
    /// - Returns: ``ConnectedDevicesNotificationRegistrationStatus/errorUnknown`` where a limit is exceeded; standard
    ///   error names it. Nothing is sent then, and the earlier registration stays.
    public func publish() async -> ConnectedDevicesNotificationRegistrationStatus {
        let client = RelayClient.shared
        let mustListen = state.withLock { state in
            state.isPublished = true
            return state.listener == nil
        }
        if mustListen {
            let listener = client.listen { [weak self] in self?.take($0, client) }
            state.withLock { $0.listener = listener }
        }
        return await send(over: client)
    }

    /// The other generation's name of ``publish()``.
    @available(*, deprecated, renamed: "publish()")
    public func save() async -> Bool { await publish() == .success }

    private func send(over client: RelayClient) async -> ConnectedDevicesNotificationRegistrationStatus {
        let (services, schemes, attributes) = state.withLock { state in
            (
                state.providers.map {
                    RelayService(
                        name: $0.appServiceInfo.name,
                        access: $0.needsGrant ? .granted : $0.isOpenToAnyone ? .anyone : .sameUser)
                },
                state.launcher.map { $0.supportedUriSchemes ?? ["*"] } ?? [], state.attributes
            )
        }
        let notice = await client.ask {
            .publish(request: $0, services: services, schemes: schemes, attributes: attributes)
        }
        guard case .answered(_, _, let outcome)? = notice else { return .errorNoNetwork }
        if outcome.status == .success { return .success }
        let why = outcome.detail ?? outcome.status.rawValue
        FileHandle.standardError.write(Data("aldaba: the app's services are not published: \(why)\n".utf8))
        return .errorUnknown
    }

    private func take(_ news: RelayClient.News, _ client: RelayClient) {
        switch news {
        case .opened: if state.withLock({ $0.isPublished }) { Task { await send(over: client) } }
        case .ended: connections.closeAll(by: .unknown)
        case .notice(.opened(let id, let device, let app, let service, let caller)):
            guard let provider = provider(of: service) else {
                return client.say(.close(request: 0, connection: id, .cancelled))
            }
            let connection = connections.open(id, AppServiceInfo(name: service, packageId: app), client: client)
            provider.connectionDidOpen(
                AppServiceConnectionOpenedInfo(
                    connection: connection, remoteSystemId: device, callerAppId: caller.isEmpty ? nil : caller))
        case .notice(.closed(let id, let reason)):
            // A caller that keeps no connection is notified of its end as well.
            connections.close(id, by: reason)
        case .notice(.asked(let call, let id, let device, _, let asked)) where asked.connection == nil:
            answer(asked, id: id, call: call, device: device, client: client)
        case .notice(.offered(let id, let device, let offer)):
            let stream = IncomingStream(id, offer, from: device, client: client)
            guard let provider = offer.service.flatMap({ provider(of: $0) }) else {
                return stream.refuse("the app does not offer the service")
            }
            provider.streamDidArrive(stream)
        case .notice(.launch(let call, _, let launch)): open(launch, call, client)
        case .notice: break
        }
    }

    private func provider(of service: String) -> (any AppServiceProvider)? {
        state.withLock { $0.providers.first { $0.appServiceInfo.name == service } }
    }

    /// A question by itself has a connection of its own for as long as it is taken.
    private func answer(_ asked: RelayCall, id: UUID, call: Int64, device: String, client: RelayClient) {
        guard let provider = provider(of: asked.service) else {
            return client.say(.answer(call: call, RelayOutcome(.serviceUnavailable)))
        }
        let connection = AppServiceConnection(
            opened: nil, AppServiceInfo(name: asked.service, packageId: asked.app), client: client)
        provider.connectionDidOpen(
            AppServiceConnectionOpenedInfo(
                connection: connection, remoteSystemId: device,
                callerAppId: asked.caller.isEmpty ? nil : asked.caller))
        connection.receive(asked, id: id, call: call)
    }

    private func open(_ launch: RelayLaunch, _ call: Int64, _ client: RelayClient) {
        guard let launcher = launchUriProvider else {
            return client.say(.answer(call: call, RelayOutcome(.protocolUnavailable)))
        }
        let options = RemoteLauncherOptions(fallbackUri: launch.fallback, preferredAppIds: launch.preferredApps)
        let input = ValueSetCoding.values(launch.input)
        let opening = Task { await launcher.onLaunchUri(launch.uri, options: options, inputData: input) }
        client.whenCancelled(call) { opening.cancel() }
        Task {
            let isOpen = await opening.value
            client.expectNoCancel(of: call)
            client.say(.answer(call: call, RelayOutcome(isOpen ? .success : .failed)))
        }
    }
}
