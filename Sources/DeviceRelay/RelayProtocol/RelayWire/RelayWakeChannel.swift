/// The channel that wakes a device whose app is suspended: a push of its platform's own push service.
///
/// Only the server receives it: to other devices the token means nothing.
public struct RelayWakeChannel: Hashable, Sendable, Codable {
    /// A push service.
    public enum Service: String, Hashable, Sendable, Codable, CaseIterable {
        /// Apple's.
        case apns
        /// Firebase Cloud Messaging.
        case fcm
    }

    /// An environment of Apple's push service.
    public enum Environment: String, Hashable, Sendable, Codable, CaseIterable {
        /// The environment of apps from its store.
        case production
        /// The environment of apps in development.
        case sandbox
    }

    /// The longest token, in bytes.
    public static let longestToken = 1024

    /// The push service.
    public var service: Service
    /// The token that it gave the app.
    public var token: String
    /// The environment that the token is of; `nil` where nothing is known of it, or the service has none.
    public var environment: Environment?

    /// Names a channel.
    public init(service: Service, token: String, environment: Environment? = nil) {
        self.service = service
        self.token = token
        self.environment = environment
    }

    /// The channel's bytes, for storage.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    /// Reads a channel's bytes; `nil` where it is one of a later version.
    public static func read(_ bytes: some Collection<UInt8>) throws(RelayFault) -> RelayWakeChannel? {
        try read(try RelayDecoder.decode(bytes, limits: .frame))
    }

    var map: RelayMap {
        var map: RelayMap = ["service": .string(service.rawValue), "token": .string(token)]
        map.add("environment", environment.map { .string($0.rawValue) })
        return map
    }

    static func read(_ map: RelayMap) throws(RelayFault) -> RelayWakeChannel? {
        let fields = RelayFields(map, "wake")
        let service = Service(rawValue: try fields.text("service"))
        let token = try fields.text("token", most: longestToken)
        guard !token.isEmpty else { throw fields.fault("token", "a text that is not empty") }
        let environment = try fields.optionalText("environment").flatMap(Environment.init)
        return service.map { RelayWakeChannel(service: $0, token: token, environment: environment) }
    }
}
