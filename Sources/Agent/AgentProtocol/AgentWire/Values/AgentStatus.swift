/// How an agent is.
public struct AgentStatus: Codable, Hashable, Sendable {
    /// The agent's process id.
    public var process: Int32
    /// The device's id; `nil` while it is not enrolled.
    public var device: String?
    /// Whether the agent is logged in at its server.
    public var isConnected: Bool
    /// Whether the agent has a server at all.
    public var hasServer: Bool
    /// Why the agent is not logged in at its server, as its log has it; `nil` where it is, or has not tried yet.
    public var serverFault: String?
    /// Whether notifications can be seen.
    public var hasScreen: Bool
    /// Why nothing can be seen now although there is a desktop; `nil` where nothing is known to be wrong.
    public var screenFault: String?
    /// The installed apps.
    public var apps: [App]
    /// The source of the machine's position; `nil` of an agent that does not report it.
    public var position: Position?
    /// The apps that have registered by UnifiedPush; `nil` of an agent that does not report them.
    public var unifiedPush: [PushApp]?

    /// Makes the answer to a question for the status.
    public init(
        process: Int32, device: String?, isConnected: Bool, hasServer: Bool = true, serverFault: String? = nil,
        hasScreen: Bool, screenFault: String? = nil, apps: [App], position: Position? = nil,
        unifiedPush: [PushApp]? = nil
    ) {
        self.process = process
        self.device = device
        self.isConnected = isConnected
        self.hasServer = hasServer
        self.serverFault = serverFault
        self.hasScreen = hasScreen
        self.screenFault = screenFault
        self.apps = apps
        self.position = position
        self.unifiedPush = unifiedPush
    }

    /// An app's registration by UnifiedPush.
    public struct PushApp: Codable, Hashable, Sendable {
        /// The app's bus name.
        public var service: String
        /// The purpose of the registration; may be empty.
        public var description: String
        /// The URL to which application servers send; `nil` until the server has given one.
        public var endpoint: String?
        /// The number of messages that wait for the app.
        public var waiting: Int

        /// Creates an instance from its properties.
        public init(service: String, description: String, endpoint: String?, waiting: Int) {
            self.service = service
            self.description = description
            self.endpoint = endpoint
            self.waiting = waiting
        }
    }

    /// The source of the machine's position, and its state.
    public struct Position: Codable, Hashable, Sendable {
        /// The name of the source; `nil` where none is configured.
        public var source: String?
        /// Why the source reports no position now; `nil` where it does, or has not been asked.
        public var fault: String?
        /// Whether the source has reported a position.
        public var isKnown: Bool

        /// Creates an instance from its properties.
        public init(source: String?, fault: String? = nil, isKnown: Bool = false) {
            self.source = source
            self.fault = fault
            self.isKnown = isKnown
        }
    }

    /// An installed app.
    public struct App: Codable, Hashable, Sendable {
        /// The bundle id.
        public var id: BundleID
        /// The name that people see, from the app's manifest.
        public var name: String
        /// Whether the app is connected to the agent's socket.
        public var isConnected: Bool
        /// `UNAuthorizationStatus` (raw value).
        public var authorization: Int
        /// How many notifications of the app are in the list.
        public var listed: Int
        /// The number on the app's icon; 0 for none.
        public var badge: Int
        /// How notifications that waited for its service extension ended since the agent began; `nil` where it has
        /// none.
        public var extensions: [ExtensionVersion]?
        /// The app's device token in hexadecimal digits; `nil` where it has none.
        public var token: String?
        /// Why the server gives the app no device token, and the remedy; `nil` where nothing is known to be wrong.
        public var tokenFault: String?

        /// Makes the line of one app.
        public init(
            id: BundleID, name: String, isConnected: Bool, authorization: Int, listed: Int, badge: Int,
            extensions: [ExtensionVersion]? = nil, token: String? = nil, tokenFault: String? = nil
        ) {
            self.id = id
            self.name = name
            self.isConnected = isConnected
            self.authorization = authorization
            self.listed = listed
            self.badge = badge
            self.extensions = extensions
            self.token = token
            self.tokenFault = tokenFault
        }
    }

    /// The results of one version of an app's service extension.
    public struct ExtensionVersion: Codable, Hashable, Sendable {
        /// The version, from the manifest; empty where the manifest has none.
        public var version: String
        /// The number of notifications by outcome: `changed`, `timedOut` and the other outcomes of the state
        /// `extended`.
        public var outcomes: [String: Int64]

        /// Makes the line of one version.
        public init(version: String, outcomes: [String: Int64]) {
            self.version = version
            self.outcomes = outcomes
        }
    }
}
