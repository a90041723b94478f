import AgentProtocol
import FirebaseCore
import Foundation

/// The state of messaging: a value.
struct MessagingState {
    /// How many messages are remembered that were noted or given to the delegate.
    static let remembered = 1_000

    var isConfigured = false
    var hasDelegate = false
    var isActive = false
    var shouldEstablishDirectChannel = false
    var usesMessagingDelegate: Bool
    let isProxyEnabled: Bool
    let opensInBackground: Bool
    var isConnected = false
    var isAutoInitEnabled: Bool
    var apnsToken: Data?
    var apnsTokenIsSet = false
    /// The registration token; `nil` until it is known.
    var token: String?
    /// The token that the delegate has received.
    var toldToken: String?
    /// The callbacks that wait for a token.
    var tokenWaiters: [@Sendable (Result<String, MessagingError>) -> Void] = []
    /// The callbacks that wait for the direct channel.
    var connectWaiters: [MessagingConnectCompletion] = []
    private var noted = RecentNames(limit: remembered)
    private var given = RecentNames(limit: remembered)

    init(_ settings: FirebaseSettings) {
        usesMessagingDelegate = settings.usesMessagingDelegate ?? true
        isProxyEnabled = settings.isProxyEnabled
        opensInBackground = settings.opensInBackground
        isAutoInitEnabled = settings.isAutoInitEnabled
    }

    /// Whether data messages may come now: there is a receiver, and the app is in front, unless a setting decides
    /// otherwise.
    var wantsChannel: Bool {
        isConfigured && shouldEstablishDirectChannel && (isActive || opensInBackground)
            && (hasDelegate || !usesMessagingDelegate)
    }

    /// Records that the app's handlers were given a message.
    mutating func recordMessage(_ id: String?, of message: [AnyHashable: Any]) -> MessagingMessageStatus {
        guard !message.isEmpty else { return .unknown }
        guard let id else { return .new }
        return noted.insert(id) ? .new : .unknown
    }

    /// Whether the delegate has not been given the message of this id yet; from now on it has.
    mutating func give(_ id: String) -> Bool { given.insert(id) }

    /// The direct channel is open as far as the server, or no longer.
    ///
    /// - Returns: The callbacks that waited for it to open.
    mutating func channelChanged(isConnected: Bool) -> [MessagingConnectCompletion] {
        self.isConnected = isConnected
        guard isConnected else { return [] }
        defer { connectWaiters = [] }
        return connectWaiters
    }

    /// A token is known.
    ///
    /// - Returns: The callbacks that waited for it.
    mutating func tokenArrived(_ token: String) -> [@Sendable (Result<String, MessagingError>) -> Void] {
        self.token = token
        defer { tokenWaiters = [] }
        return tokenWaiters
    }
}

/// Names that were seen lately.
struct RecentNames {
    private let limit: Int
    private var order: [String] = []
    private var names: Set<String> = []
    private var oldest = 0

    init(limit: Int) { self.limit = limit }

    /// - Returns: Whether it was not among them.
    mutating func insert(_ name: String) -> Bool {
        guard names.insert(name).inserted else { return false }
        if order.count < limit {
            order.append(name)
        } else {
            names.remove(order[oldest])
            order[oldest] = name
            oldest = (oldest + 1) % limit
        }
        return true
    }
}
