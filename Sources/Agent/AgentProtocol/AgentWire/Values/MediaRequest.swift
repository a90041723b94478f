/// A service extension's request to the agent to fetch a file.
public struct MediaRequest: Codable, Hashable, Sendable {
    /// The address of the file: `https`, or `http` where the app or the agent allows it.
    public var url: String
    /// The type of the file according to the sender: a file's extension, a MIME type or a uniform type identifier.
    public var typeHint: String?
    /// The seconds over which the sender wants devices to spread themselves; see ``MediaRequest/spreadLimit``.
    public var spread: Double

    /// The greatest spread that counts, in seconds; the rest of an extension's time is for the fetching.
    public static let spreadLimit = 15.0

    /// Makes a request; its values are checked by the agent.
    public init(url: String, typeHint: String? = nil, spread: Double = 0) {
        self.url = url
        self.typeHint = typeHint
        self.spread = spread
    }

    private enum Key: String, CodingKey {
        case url, typeHint, spread
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        url = try members.decode(String.self, forKey: .url)
        typeHint = try members.decodeIfPresent(String.self, forKey: .typeHint)
        spread = try members.member(.spread, else: 0)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(url, forKey: .url)
        try members.encodeIfPresent(typeHint, forKey: .typeHint)
        if spread != 0 { try members.encode(spread, forKey: .spread) }
    }
}

/// Why the agent fetched nothing.
public struct MediaFailure: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The reasons there are; programs go by these.
    public enum Reason: String, Codable, Sendable, CaseIterable {
        /// The text is no address that can be fetched.
        case refusedURL
        /// `http`, which neither the app nor the agent allows.
        case notSecure
        /// The host's address is private, of this machine, or of another kind that no public picture has.
        case refusedAddress
        /// The host name cannot be resolved.
        case unknownHost
        /// The host takes no connection, or ends it before its time.
        case unreachable
        /// More redirects than are followed.
        case tooManyRedirects
        /// The host answered with something other than the file.
        case notFound
        /// The file is no picture, sound or movie that a notification can show.
        case notMedia
        /// More bytes than a file of its kind may have.
        case tooLarge
        /// The file was not there in time.
        case tooSlow
        /// Too much is being fetched already.
        case busy
        /// There is no space for it on this machine.
        case noRoom
        /// A reason of a later version.
        case unknown
    }

    /// The reason of the failure.
    public var reason: Reason
    /// The host's HTTP status, with ``Reason/notFound``.
    public var status: Int?
    /// The fault, its place, and what is expected instead.
    public var message: String

    /// Makes a failure.
    public init(_ reason: Reason, status: Int? = nil, _ message: String) {
        self.reason = reason
        self.status = status
        self.message = message
    }

    /// Such as `notFound(404)`.
    public var code: String { status.map { "\(reason.rawValue)(\($0))" } ?? reason.rawValue }
    /// The reason and the sentence.
    public var description: String { "\(code): \(message)" }

    private enum Key: String, CodingKey {
        case reason, status, message
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        reason = Reason(rawValue: try members.decode(String.self, forKey: .reason)) ?? .unknown
        status = try members.decodeIfPresent(Int.self, forKey: .status)
        message = try members.member(.message, else: "")
    }
}
