import RelayWire

/// Which devices a watcher tells of: one of the filters below. A device must pass every filter.
///
/// `@unchecked Sendable`: a filter and its subclasses hold constants only, and there are none but those below.
public class RemoteSystemFilter: @unchecked Sendable {
    private let condition: @Sendable (RemoteSystem) -> Bool
    private let narrowing: @Sendable (inout RelayDeviceFilter) -> Void

    /// - Parameter narrowing: Says the same to the agent, which tells of no others.
    fileprivate init(
        _ narrowing: @escaping @Sendable (inout RelayDeviceFilter) -> Void = { _ in },
        _ condition: @escaping @Sendable (RemoteSystem) -> Bool
    ) {
        self.narrowing = narrowing
        self.condition = condition
    }

    /// What the agent is told of several that must all be passed.
    static func agentFilter(_ filters: [RemoteSystemFilter]) -> RelayDeviceFilter {
        filters.reduce(into: RelayDeviceFilter()) { $1.narrowing(&$0) }
    }

    final func passes(_ system: RemoteSystem) -> Bool { condition(system) }
}

/// Devices of some kinds.
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
public final class RemoteSystemStatusTypeFilter: RemoteSystemFilter, @unchecked Sendable {
    /// Which presence is asked for.
    public let type: RemoteSystemStatusType

    /// Devices of this presence. One that a push brings back counts as available.
    public init(_ type: RemoteSystemStatusType) {
        self.type = type
        super.init({ if type == .available { $0.isAvailable = true } }, { type == .any || $0.status == .available })
    }
}

/// Devices that are reached in some way.
public final class RemoteSystemDiscoveryTypeFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The way.
    public let type: RemoteSystemDiscoveryType

    /// Devices that are reached in this way. A device whose way changes enters or leaves accordingly.
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

/// Whose devices count. The watcher tells of this person's own, who are of anybody's too.
public final class RemoteSystemAuthorizationKindFilter: RemoteSystemFilter, @unchecked Sendable {
    /// Whose.
    public let kind: RemoteSystemAuthorizationKind

    /// Passes all that a watcher knows of.
    public init(_ kind: RemoteSystemAuthorizationKind) {
        self.kind = kind
        super.init { _ in true }
    }
}

/// Whether the app on this very device counts; a watcher tells of other devices only.
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
public final class RemoteSystemAccountFilter: RemoteSystemFilter, @unchecked Sendable {
    /// The account.
    public let account: ConnectedDevicesAccount

    /// Devices of this account. A watcher tells of those that belong to ``ConnectedDevicesAccount/device``, and of no other's.
    public init(_ account: ConnectedDevicesAccount) {
        self.account = account
        let isDevices = account.accountId == ConnectedDevicesAccount.device.accountId
        super.init({ if !isDevices { $0.excludeAll() } }, { _ in isDevices })
    }
}

/// Devices with some systems.
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
    /// Devices of the same person, or of anybody.
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

/// Which presence a watcher asks for.
public enum RemoteSystemStatusType: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case any = 0, available = 1
}

/// In which way devices are reached.
public enum RemoteSystemDiscoveryType: Int, Sendable, CaseIterable {
    /// In any way, or in none at present.
    case any = 0
    /// By a connection of the two devices' own, in a network that they share.
    case proximal = 1
    /// By the server, or in no way at present: what is known of the device comes from there.
    case cloud = 2
    /// By Bluetooth. No device is.
    case spatiallyProximal = 3
}

/// Whose devices are found.
public enum RemoteSystemAuthorizationKind: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case sameUser = 0, anonymous = 1
}

/// Whether this app's own device is told.
public enum RemoteSystemLocalVisibilityKind: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case showAll = 0, hideLocalApp = 1
}
