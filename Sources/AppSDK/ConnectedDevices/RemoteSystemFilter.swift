import RelayProtocol

/// A condition on the devices that a watcher reports: one of the filters below. A device must pass every filter.
///
/// `@unchecked Sendable`: a filter and its subclasses have only constants, and there are no subclasses but those below.
public class RemoteSystemFilter: @unchecked Sendable {
    private let condition: @Sendable (RemoteSystem) -> Bool
    private let narrowing: @Sendable (inout RelayDeviceFilter) -> Void

    /// - Parameter narrowing: Adds the same condition to the agent's filter, so that it reports no other devices.
    fileprivate init(
        _ narrowing: @escaping @Sendable (inout RelayDeviceFilter) -> Void = { _ in },
        _ condition: @escaping @Sendable (RemoteSystem) -> Bool
    ) {
        self.narrowing = narrowing
        self.condition = condition
    }

    /// The agent's filter for a list of filters that must all be passed.
    static func agentFilter(_ filters: [RemoteSystemFilter]) -> RelayDeviceFilter {
        filters.reduce(into: RelayDeviceFilter()) { $1.narrowing(&$0) }
    }

    final func passes(_ system: RemoteSystem) -> Bool { condition(system) }
}

/// Devices of some kinds.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemKindFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The kinds, in any case of letters; see ``RemoteSystemKinds``.
    public let kinds: [String]

    /// Devices of any of these kinds.
    public init(_ kinds: [String]) {
        self.kinds = kinds
        let wanted = Set(kinds.map { $0.lowercased() })
        super.init({ $0.narrow(kinds: kinds) }, { wanted.contains($0.kind.lowercased()) })
    }
}

/// Devices that can be reached, or any.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemStatusTypeFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The presence that devices must have.
    public let type: RemoteSystemStatusType

    /// Devices of this presence. One that a push brings back counts as available.
    public init(_ type: RemoteSystemStatusType) {
        self.type = type
        super.init({ if type == .available { $0.isAvailable = true } }, { type == .any || $0.status == .available })
    }
}

/// Devices by the way in which they are reached.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemDiscoveryTypeFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The kind of connection.
    public let type: RemoteSystemDiscoveryType

    /// Devices that are reached in this way. A device is added or removed when its connection changes.
    public init(_ type: RemoteSystemDiscoveryType) {
        self.type = type
        super.init(
            { filter in
                switch type {
                case .any: break
                case .proximal: filter.narrow(isDirect: true)
                case .cloud: filter.narrow(isDirect: false)
                case .spatiallyProximal: filter.excludeAll()
                }
            },
            { system in
                switch type {
                case .any: true
                case .proximal: system.isAvailableByProximity
                case .cloud: !system.isAvailableByProximity
                case .spatiallyProximal: system.isAvailableBySpatialProximity
                }
            })
    }
}

/// Devices by their owner. A watcher only reports this person's own devices, which pass either value.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemAuthorizationKindFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The owner of the devices.
    public let kind: RemoteSystemAuthorizationKind

    /// Passes all that a watcher knows of.
    public init(_ kind: RemoteSystemAuthorizationKind) {
        self.kind = kind
        super.init { _ in true }
    }
}

/// Whether the app on this very device is included; a watcher only reports other devices.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemLocalVisibilityKindFilter: RemoteSystemFilter, @unchecked Sendable {
    /// Whether it counts.
    public let kind: RemoteSystemLocalVisibilityKind

    /// Passes all that a watcher knows of.
    public init(_ kind: RemoteSystemLocalVisibilityKind) {
        self.kind = kind
        super.init { _ in true }
    }
}

/// Devices of an account.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemAccountFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The account.
    public let account: ConnectedDevicesAccount

    /// Devices of this account. A watcher only reports devices of ``ConnectedDevicesAccount/device``.
    public init(_ account: ConnectedDevicesAccount) {
        self.account = account
        let isDevices = account.accountId == ConnectedDevicesAccount.device.accountId
        super.init({ if !isDevices { $0.excludeAll() } }, { _ in isDevices })
    }
}

/// Devices with some systems.
///
/// `@unchecked Sendable`: only since the superclass is; all properties are constants of Sendable types.
public final class RemoteSystemPlatformFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The systems.
    public let platforms: [RemoteSystemPlatform]

    /// Devices with any of these systems.
    public init(_ platforms: [RemoteSystemPlatform]) {
        self.platforms = platforms
        super.init({ $0.narrow(platforms: platforms.map(\.name)) }, { platforms.contains($0.platform) })
    }
}

extension RemoteSystemFilter {
    /// Devices of these kinds.
    public static func kind(_ kinds: [String]) -> RemoteSystemFilter { RemoteSystemKindFilter(kinds) }
    /// Devices that can be reached, or any.
    public static func statusType(_ type: RemoteSystemStatusType) -> RemoteSystemFilter {
        RemoteSystemStatusTypeFilter(type)
    }
    /// Devices that are reached in this way.
    public static func discoveryType(_ type: RemoteSystemDiscoveryType) -> RemoteSystemFilter {
        RemoteSystemDiscoveryTypeFilter(type)
    }
    /// Devices of the same person, or of any person.
    public static func authorizationKind(_ kind: RemoteSystemAuthorizationKind) -> RemoteSystemFilter {
        RemoteSystemAuthorizationKindFilter(kind)
    }
    /// Whether the app on this very device counts.
    public static func localVisibilityKind(_ kind: RemoteSystemLocalVisibilityKind) -> RemoteSystemFilter {
        RemoteSystemLocalVisibilityKindFilter(kind)
    }
    /// Devices of this account.
    public static func account(_ account: ConnectedDevicesAccount) -> RemoteSystemFilter {
        RemoteSystemAccountFilter(account)
    }
    /// Devices with these systems.
    public static func platform(_ platforms: [RemoteSystemPlatform]) -> RemoteSystemFilter {
        RemoteSystemPlatformFilter(platforms)
    }
}

/// The presence that a watcher asks for.
public enum RemoteSystemStatusType: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case any = 0, available = 1
}

/// The kind of connection by which devices are reached.
public enum RemoteSystemDiscoveryType: Int, Sendable, CaseIterable {
    /// Any connection, or none at present.
    case any = 0
    /// Reached by a direct connection of the two devices, in a network that they share.
    case proximal = 1
    /// Reached by the server, or not reached at present: the device is known from the server.
    case cloud = 2
    /// Reached by Bluetooth; no device is.
    case spatiallyProximal = 3
}

/// The owner of the devices to find.
public enum RemoteSystemAuthorizationKind: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case sameUser = 0, anonymous = 1
}

/// Whether this app's own device is reported.
public enum RemoteSystemLocalVisibilityKind: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case showAll = 0, hideLocalApp = 1
}
