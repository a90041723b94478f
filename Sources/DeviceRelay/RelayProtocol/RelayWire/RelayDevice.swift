import Foundation

/// Whether a device or an app can be reached.
public enum RelayPresence: String, Hashable, Sendable, CaseIterable {
    /// It has a session with the server.
    case online
    /// It has none, and a push can bring it one.
    case wakeable
    /// It has none.
    case offline
}

/// The path by which a device is reached.
public enum RelayRouteKind: String, Hashable, Sendable, CaseIterable {
    /// A direct connection between the two devices, in one network.
    case direct
    /// The server.
    case relay
    /// A push, which makes the device open a session first.
    case wake
}

/// A service that an app offers to other devices.
public struct RelayService: Hashable, Sendable {
    /// Access rights to a service from other devices.
    public enum Access: String, Hashable, Sendable, CaseIterable {
        /// No device has access, and the service is not listed.
        case off
        /// The devices of the same person.
        case sameUser
        /// The devices to which the user has granted it.
        case granted
        /// The devices of the same person, and of others those to whom the person has granted it.
        case anyone
    }

    /// The service's name, unique within its app.
    public var name: String
    /// The access rights of other devices.
    public var access: Access

    /// Names a service.
    public init(name: String, access: Access = .off) {
        self.name = name
        self.access = access
    }

    var map: RelayMap { ["name": .string(name), "access": .string(access.rawValue)] }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "service")
        name = try fields.text("name", most: 255)
        let word = try fields.optionalText("access") ?? Access.off.rawValue
        guard let access = Access(rawValue: word) else {
            throw fields.fault("access", "one of \(Access.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.access = access
    }
}

/// An app on a device, as other devices see it.
public struct RelayApp: Hashable, Sendable {
    /// The app's bundle id.
    public var id: String
    /// The app's display name.
    public var name: String
    /// The names of the services that it offers.
    public var services: [String]
    /// The names of the services that other users' devices may call, too.
    public var open: [String] = []
    /// The schemes of the addresses that it opens.
    public var schemes: [String]
    /// Further attributes that the app publishes, together at most 4 KiB.
    public var attributes: [String: String]
    /// Whether it can be reached.
    public var presence: RelayPresence

    /// Describes an app.
    public init(
        id: String, name: String, services: [String] = [], schemes: [String] = [], attributes: [String: String] = [:],
        presence: RelayPresence = .online
    ) {
        self.id = id
        self.name = name
        self.services = services
        self.schemes = schemes
        self.attributes = attributes
        self.presence = presence
    }

    var map: RelayMap {
        var map: RelayMap = ["id": .string(id), "name": .string(name), "presence": .string(presence.rawValue)]
        map.add("services", texts: services)
        map.add("open", texts: open)
        map.add("schemes", texts: schemes)
        map.add("attributes", attributes: attributes)
        return map
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "app")
        id = try fields.text("id", most: 255)
        name = try fields.text("name", most: 255)
        services = try fields.texts("services", most: 32)
        open = try fields.texts("open", most: 32)
        schemes = try fields.texts("schemes", most: 64)
        attributes = try fields.attributes("attributes")
        presence = RelayPresence(rawValue: try fields.text("presence")) ?? .offline
    }
}

/// A device of a person, as their other devices see it.
public struct RelayDevice: Hashable, Sendable {
    /// The device's id; never its name, which is no key.
    public var id: String
    /// The device's display name.
    public var name: String
    /// The kind of device, for display: `desktop`, `laptop`, `phone` and others.
    public var kind: String
    /// The operating system: `linux`, `android`, `ios`, `windows`.
    public var platform: String
    /// The manufacturer, for display; empty where it is not known.
    public var manufacturer = ""
    /// The model, for display; empty where it is not known.
    public var model = ""
    /// Whether it can be reached.
    public var presence: RelayPresence
    /// The apps that other devices can reach.
    public var apps: [RelayApp]
    /// The public key for which others seal what they say to it; empty where it has none.
    public var key: [UInt8] = []
    /// The proof, for the user's devices, that the key belongs to one of them.
    public var proof: [UInt8] = []
    /// The path by which this device reaches it, according to its own agent; `nil` while there is none. Never sent by
    /// the server.
    public var reach: RelayRouteKind?

    /// Describes a device.
    public init(
        id: String, name: String, kind: String, platform: String = "linux", presence: RelayPresence = .online,
        apps: [RelayApp] = []
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.platform = platform
        self.presence = presence
        self.apps = apps
    }

    /// The device as devices of other persons see it: its name, its key, and what is open to anyone; `nil` where
    /// nothing is.
    public var seenByOthers: RelayDevice? {
        var seen = RelayDevice(id: id, name: name, kind: kind, platform: platform, presence: presence)
        seen.key = key
        seen.apps = apps.filter { !$0.open.isEmpty }.map {
            var app = RelayApp(id: $0.id, name: $0.name, services: $0.open, presence: $0.presence)
            app.open = $0.open
            return app
        }
        return seen.apps.isEmpty ? nil : seen
    }

    /// The device as other users see it: its name and its key.
    public var asGuest: RelayDevice {
        var guest = RelayDevice(id: id, name: name, kind: kind, platform: platform, presence: presence)
        guest.key = key
        return guest
    }

    /// The device's bytes, for storage.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    /// Reads a device's bytes.
    public init(_ bytes: some Collection<UInt8>) throws(RelayFault) {
        try self.init(try RelayDecoder.decode(bytes, limits: .frame))
    }

    /// The most apps that a device publishes.
    public static let appLimit = 64
    /// The most devices of other users that a device communicates with.
    public static let guestLimit = 64

    /// How large a description is at most, so that every frame with it can be written whatever the device's presence
    /// is.
    package static let largest = Weight(bytes: 300 << 10, values: 8000)

    /// How large something is when it is written: at most so many bytes, and so many values.
    package struct Weight: Hashable, Sendable {
        /// Bytes of the encoding.
        package var bytes: Int
        /// Values, each array and dictionary among them.
        package var values: Int

        /// Takes the numbers as they are.
        package init(bytes: Int, values: Int) {
            self.bytes = bytes
            self.values = values
        }

        /// Whether this is no more than another in both.
        package func fits(_ other: Weight) -> Bool { bytes <= other.bytes && values <= other.values }

        /// The sum of two weights.
        package static func + (one: Weight, other: Weight) -> Weight {
            Weight(bytes: one.bytes + other.bytes, values: one.values + other.values)
        }

        fileprivate mutating func add(_ texts: [String]) {
            for text in texts { bytes += text.utf8.count + 5 }
            values += texts.count + 1
        }
    }

    /// How large the description is at most, without writing it.
    package var weight: Weight {
        var weight = Weight(bytes: 192 + key.count + proof.count, values: 8)
        weight.add([id, name, kind, platform, manufacturer, model])
        for app in apps {
            weight.bytes += 128
            weight.values += 8
            weight.add([app.id, app.name])
            for texts in [app.services, app.open, app.schemes] { weight.add(texts) }
            weight.add(app.attributes.flatMap { [$0.key, $0.value] })
        }
        return weight
    }

    /// The device without its apps.
    package var withoutApps: RelayDevice {
        var device = self
        device.apps = []
        return device
    }

    var map: RelayMap {
        var map: RelayMap = [
            "id": .string(id), "name": .string(name), "kind": .string(kind), "platform": .string(platform),
            "presence": .string(presence.rawValue),
        ]
        if !apps.isEmpty { map["apps"] = .array(apps.map { .dictionary($0.map) }) }
        if !key.isEmpty { map["key"] = .data(key) }
        if !proof.isEmpty { map["proof"] = .data(proof) }
        map.add("reach", reach.map { .string($0.rawValue) })
        map.add("manufacturer", manufacturer.isEmpty ? nil : .string(manufacturer))
        map.add("model", model.isEmpty ? nil : .string(model))
        return map
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "device")
        id = try fields.text("id", most: 64)
        name = try fields.text("name", most: 255)
        kind = try fields.text("kind", most: 64)
        platform = try fields.text("platform", most: 64)
        presence = RelayPresence(rawValue: try fields.text("presence")) ?? .offline
        var apps: [RelayApp] = []
        for map in try fields.maps("apps", most: Self.appLimit) { apps.append(try RelayApp(map)) }
        self.apps = apps
        key = try fields.optionalData("key", most: 32)
        proof = try fields.optionalData("proof", most: 64)
        reach = try fields.optionalText("reach").flatMap(RelayRouteKind.init)
        manufacturer = try fields.optionalText("manufacturer", most: 255) ?? ""
        model = try fields.optionalText("model", most: 255) ?? ""
    }
}
