/// The role of a process for the app that it names in `hello`.
public enum ConnectionRole: Hashable, Sendable {
    /// The app itself: notifications are handed to it.
    case app
    /// The app's service extension.
    case serviceExtension
    /// The app's relay service.
    case relayService
    /// A person's program that asks about the app.
    case terminal
    /// A role of a later version, by its name on the wire.
    case unknown(String)

    /// All roles of this version.
    public static let known: [ConnectionRole] = [.app, .serviceExtension, .relayService, .terminal]

    /// The role of this name.
    public init(name: String) { self = Self.known.first { $0.name == name } ?? .unknown(name) }

    /// The name on the wire.
    public var name: String {
        switch self {
        case .app: "app"
        case .serviceExtension: "serviceExtension"
        case .relayService: "relayService"
        case .terminal: "terminal"
        case .unknown(let name): name
        }
    }
}

extension ConnectionRole: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(name: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(name)
    }
}
