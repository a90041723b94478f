import Foundation
import RelayProtocol

/// The capabilities that a device may have.
public enum KnownRemoteSystemCapabilities {
    /// The capabilities by their texts.
    public static let appService = "AppService", launchUri = "LaunchUri"
    /// The capabilities by their texts; no device has these.
    public static let remoteSession = "RemoteSession", spatialEntity = "SpatialEntity"
}

/// The kinds of device that there are; an open set, for display only.
public enum RemoteSystemKinds {
    /// The kinds by their texts.
    public static let desktop = "desktop", holographic = "holographic", hub = "hub", iot = "iot", laptop = "laptop"
    /// The kinds by their texts.
    public static let phone = "phone", tablet = "tablet", xbox = "xbox"
}

/// Another device of this person.
public struct RemoteSystem: Hashable, Sendable {
    private let device: RelayDevice

    init(_ device: RelayDevice) { self.device = device }

    /// The device's id, which is unique.
    public var id: String { device.id }
    /// The name for people; two devices may have the same.
    public var displayName: String { device.name }
    /// The kind of device; see ``RemoteSystemKinds``.
    public var kind: String { device.kind }
    /// Whether the device can be reached. It is never unknown for a device that a watcher reports.
    public var status: RemoteSystemStatus { RemoteSystemStatus(device.presence) }
    /// The manufacturer's name, for people; empty where the device does not report one.
    public var manufacturerDisplayName: String { device.manufacturer }
    /// The model's name, for people; empty where the device does not report one.
    public var modelDisplayName: String { device.model }
    /// The device's operating system.
    public var platform: RemoteSystemPlatform { RemoteSystemPlatform(device.platform) }
    /// The device's apps that offer something to other devices.
    public var apps: [RemoteSystemApp] { device.apps.map { RemoteSystemApp($0, of: device) } }
    /// Whether it is reached by a connection of the two devices' own, in a network that they share, and not by the
    /// server.
    public var isAvailableByProximity: Bool { device.reach == .direct }
    /// Whether Bluetooth reaches it; no device is reached in this way.
    public var isAvailableBySpatialProximity: Bool { false }

    /// Whether it can do something of ``KnownRemoteSystemCapabilities``: devices open addresses and have app services.
    public func supportsCapability(_ capability: String) -> Bool {
        [KnownRemoteSystemCapabilities.appService, KnownRemoteSystemCapabilities.launchUri].contains(capability)
    }

    /// Whether an app may look for devices: `allowed` where this device's agent answers, else `unspecified`.
    public static func requestAccess() async -> RemoteSystemAccessStatus {
        await RelayClient.shared.ask { .life(request: $0, id: UUID()) } == nil ? .unspecified : .allowed
    }

    /// Finds a device by its id: another device of this person, or another person's that offers a service to anyone.
    ///
    /// A device of this person is found as a watcher reports it, also while it is offline. Another person's has only the
    /// apps and services that are open to anyone; its owner is asked at the first request.
    ///
    /// - Returns: `nil` where no such device has this id, for this device itself, or where another person's device
    ///   cannot be looked for since the server cannot be reached.
    public static func find(id: String) async -> RemoteSystem? { await find(id: id, by: .shared) }

    static func find(id: String, by client: RelayClient) async -> RemoteSystem? {
        guard case .found(_, let device)? = await client.ask({ .find(request: $0, device: id) }) else { return nil }
        return RemoteSystem(device)
    }

    /// The iOS library's name of ``id``.
    public var systemId: String { id }
    /// The guide's name of ``apps``.
    @available(*, deprecated, renamed: "apps") public var applications: [RemoteSystemApp] { apps }
}

/// An app on another device.
public struct RemoteSystemApp: Hashable, Sendable {
    private let app: RelayApp
    let device: String
    private let isNear: Bool

    init(_ app: RelayApp, of device: RelayDevice) {
        self.app = app
        self.device = device.id
        isNear = device.reach == .direct
    }

    /// An app of which no more than its id is known.
    init(id: String, on device: String) {
        app = RelayApp(id: id, name: id)
        self.device = device
        isNear = false
    }

    /// The app's bundle id.
    public var id: String { app.id }
    /// The app's name for people.
    public var displayName: String { app.name }
    /// Whether it can be reached.
    public var status: RemoteSystemStatus { RemoteSystemStatus(app.presence) }
    /// The attributes that the app publishes.
    public var attributes: [String: String] { app.attributes }
    /// The services that it offers to this device.
    public var appServices: [AppServiceInfo] { app.services.map { AppServiceInfo(name: $0, packageId: app.id) } }
    /// Whether it can be reached, by a connection of the two devices' own in a network that they share.
    public var isAvailableByProximity: Bool { isNear && status == .available }
    /// Whether Bluetooth reaches it; no device is reached in this way.
    public var isAvailableBySpatialProximity: Bool { false }

    /// The iOS library's name of ``id``.
    public var appId: String { id }
    /// The guide's name of ``id``.
    @available(*, deprecated, renamed: "id") public var applicationId: String { id }
}

/// An app service: its name, and the app that offers it.
public struct AppServiceInfo: Hashable, Sendable {
    /// The service's name.
    public var name: String
    /// The app's bundle id.
    public var packageId: String

    /// Names a service.
    public init(name: String, packageId: String) {
        self.name = name
        self.packageId = packageId
    }
}

/// The guide's name of ``AppServiceInfo``.
public typealias AppServiceDescription = AppServiceInfo

/// The target of a request: a device, or an app on it.
public struct RemoteSystemConnectionRequest: Hashable, Sendable {
    let device: String
    let app: String?

    /// Asks a device; which app answers is the device's choice.
    public init(remoteSystem: RemoteSystem) {
        device = remoteSystem.id
        app = nil
    }

    /// Asks an app.
    public init(remoteSystemApp: RemoteSystemApp) {
        device = remoteSystemApp.device
        app = remoteSystemApp.id
    }
}
