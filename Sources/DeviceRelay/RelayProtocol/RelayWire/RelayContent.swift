import Foundation

/// A message between two devices: the body of a ``RelayRoute``.
public enum RelayContent: Hashable, Sendable {
    /// Asks for an address to be opened; `app` is the app that is to do it, `nil` for the system's choice.
    case launch(RelayLaunch)
    /// Asks an app service, over a connection or by itself.
    case call(RelayCall)
    /// Opens a connection to an app service. Its id is the connection's.
    case open(app: String, service: String, caller: String)
    /// A connection is closed, and why.
    case close(connection: UUID, RelayCloseReason)
    /// The sender is reachable again after it lost its connectivity, and has these connections with the receiver. The
    /// receiver repeats its open requests over them, and closes those that it does not know.
    case resume(connections: [UUID])
    /// The command of this id has arrived and is being carried out.
    case executing(command: UUID)
    /// The outcome of the command of this id.
    case outcome(command: UUID, RelayOutcome)
    /// The caller does not want the command's outcome any more.
    case cancel(command: UUID)
    /// Offers a file. Its command is answered when all of it has come, or will not.
    case offer(RelayOffer)
    /// The receiver of an offered file requests this range. `prefix` is the digest of the part that it has already.
    case pull(stream: UUID, offset: Int64, length: Int64, prefix: [UInt8])
    /// A piece of a file.
    case piece(stream: UUID, offset: Int64, [UInt8])
    /// All pieces of a file were sent; the digest (SHA-256) of the whole.
    case piecesEnded(stream: UUID, digest: [UInt8])
    /// The account has another key from now on: one of the person's devices was taken out. The proof is made with the
    /// key that it has until then, so that this counts for no other.
    case rekey(String, proof: [UInt8])
    /// The list of the person's devices, and the account's signature of it.
    case list(RelayDeviceList, signature: [UInt8])
    /// The sender's name, apps and services, sent over a direct connection.
    case introduction(RelayDevice)
    /// A direct connection is open. Everything that the sender relayed earlier arrives before this message.
    case pathBegins(connection: UUID)
    /// A direct connection ended; this message's sender had received `received` messages over it. A reply (`isAnswer`)
    /// gets no reply.
    case pathEnded(connection: UUID, received: Int64, isAnswer: Bool)
    /// A message of a later version.
    case unknown(String)

    /// The content's bytes.
    ///
    /// - Throws: ``RelayFault`` also where the message in it is larger than any may be.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    /// Reads a content.
    public init(_ bytes: some Collection<UInt8>) throws(RelayFault) {
        self = try Self.read(try RelayDecoder.decode(bytes, limits: .frame))
    }

    /// Whether it offers a stream or file, asks for pieces of one, or is of them.
    public var isOfStream: Bool {
        switch self {
        case .offer, .pull, .piece, .piecesEnded: true
        default: false
        }
    }

    /// When the command was given for the first time, where it is given again, and must not be carried out twice.
    public var firstGivenAt: Int64? {
        switch self {
        case .launch(let launch): launch.firstGivenAt
        case .call(let call): call.firstGivenAt
        default: nil
        }
    }

    private var map: RelayMap {
        switch self {
        case .launch(let launch): return launch.map.merging(["type": "launch"]) { $1 }
        case .call(let call):
            var map: RelayMap = [
                "type": "call", "app": .string(call.app), "service": .string(call.service),
                "caller": .string(call.caller), "message": .dictionary(call.message),
            ]
            map.add("connection", call.connection.map(RelayValue.uuid))
            map.add("firstGivenAt", call.firstGivenAt.map(RelayValue.integer))
            return map
        case .open(let app, let service, let caller):
            return ["type": "open", "app": .string(app), "service": .string(service), "caller": .string(caller)]
        case .close(let connection, let reason):
            return ["type": "close", "connection": .uuid(connection), "reason": .string(reason.rawValue)]
        case .resume(let connections):
            return ["type": "resume", "connections": .array(connections.map(RelayValue.uuid))]
        case .executing(let command): return ["type": "executing", "command": .uuid(command)]
        case .outcome(let command, let outcome):
            return ["type": "outcome", "command": .uuid(command), "outcome": .dictionary(outcome.map)]
        case .cancel(let command): return ["type": "cancel", "command": .uuid(command)]
        case .offer(let offer): return offer.map.merging(["type": "offer"]) { $1 }
        case .pull(let stream, let offset, let length, let prefix):
            return [
                "type": "pull", "stream": .uuid(stream), "offset": .integer(offset), "length": .integer(length),
                "prefix": .data(prefix),
            ]
        case .piece(let stream, let offset, let bytes):
            return ["type": "piece", "stream": .uuid(stream), "offset": .integer(offset), "bytes": .data(bytes)]
        case .piecesEnded(let stream, let digest):
            return ["type": "piecesEnded", "stream": .uuid(stream), "digest": .data(digest)]
        case .rekey(let key, let proof): return ["type": "rekey", "key": .string(key), "proof": .data(proof)]
        case .list(let list, let signature):
            return ["type": "list", "list": .dictionary(list.map), "signature": .data(signature)]
        case .introduction(let device): return ["type": "introduction", "device": .dictionary(device.map)]
        case .pathBegins(let connection): return ["type": "pathBegins", "connection": .uuid(connection)]
        case .pathEnded(let connection, let received, let isAnswer):
            return [
                "type": "pathEnded", "connection": .uuid(connection), "received": .integer(received),
                "isAnswer": .bool(isAnswer),
            ]
        case .unknown(let type): return ["type": .string(type)]
        }
    }

    private static func read(_ map: RelayMap) throws(RelayFault) -> RelayContent {
        let type = try RelayFields(map, "content").text("type")
        let fields = RelayFields(map, type)
        switch type {
        case "launch": return .launch(try RelayLaunch(fields))
        case "call":
            var call = RelayCall(
                app: try fields.text("app"), service: try fields.text("service"),
                caller: try fields.text("caller"), connection: try fields.optionalID("connection"),
                message: try fields.member("message"))
            call.firstGivenAt = try fields.optionalInteger("firstGivenAt")
            return .call(call)
        case "open":
            return .open(
                app: try fields.text("app"), service: try fields.text("service"), caller: try fields.text("caller"))
        case "close":
            return .close(
                connection: try fields.id("connection"),
                RelayCloseReason(rawValue: try fields.text("reason")) ?? .unknown)
        case "resume": return .resume(connections: try fields.ids("connections", most: 1024))
        case "executing": return .executing(command: try fields.id("command"))
        case "outcome":
            return .outcome(command: try fields.id("command"), try RelayOutcome(try fields.member("outcome")))
        case "cancel": return .cancel(command: try fields.id("command"))
        case "offer": return .offer(try RelayOffer(fields))
        case "pull":
            return .pull(
                stream: try fields.id("stream"), offset: try fields.integer("offset"),
                length: try fields.integer("length"), prefix: try fields.optionalData("prefix", most: 32))
        case "piece":
            return .piece(
                stream: try fields.id("stream"), offset: try fields.integer("offset"), try fields.data("bytes"))
        case "piecesEnded":
            return .piecesEnded(stream: try fields.id("stream"), digest: try fields.data("digest"))
        case "rekey": return .rekey(try fields.text("key"), proof: try fields.optionalData("proof", most: 32))
        case "list":
            return .list(
                try RelayDeviceList(try fields.member("list")),
                signature: try fields.optionalData("signature", most: 64))
        case "introduction": return .introduction(try RelayDevice(try fields.member("device")))
        case "pathBegins": return .pathBegins(connection: try fields.id("connection"))
        case "pathEnded":
            return .pathEnded(
                connection: try fields.id("connection"), received: try fields.integer("received"),
                isAnswer: try fields.flag("isAnswer"))
        default: return .unknown(type)
        }
    }
}

/// An address to be opened on another device.
public struct RelayLaunch: Hashable, Sendable {
    /// The address, at most 8 KiB.
    public var uri: String
    /// The app that is to open it; `nil` for the system's choice.
    public var app: String?
    /// A web page that the target opens where the address cannot be opened, for certain.
    public var fallback: String?
    /// The apps that should open it, the most wanted first.
    public var preferredApps: [String]
    /// The values that an app receives beside the address; the system's own opener does not receive them.
    public var input: RelayMap = [:]
    /// The app that asks.
    public var caller: String
    /// When it was given for the first time, where it is given again; in milliseconds since 1970.
    public var firstGivenAt: Int64?

    /// Describes a launch; whether it is allowed is for the target to say.
    public init(uri: String, app: String? = nil, fallback: String? = nil, preferredApps: [String] = [], caller: String)
    {
        self.uri = uri
        self.app = app
        self.fallback = fallback
        self.preferredApps = preferredApps
        self.caller = caller
    }

    var map: RelayMap {
        var map: RelayMap = ["uri": .string(uri), "caller": .string(caller)]
        map.add("app", app.map(RelayValue.string))
        map.add("fallback", fallback.map(RelayValue.string))
        map.add("preferredApps", texts: preferredApps)
        map.add("input", input.isEmpty ? nil : .dictionary(input))
        map.add("firstGivenAt", firstGivenAt.map(RelayValue.integer))
        return map
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        uri = try fields.text("uri", most: 8192)
        app = try fields.optionalText("app")
        fallback = try fields.optionalText("fallback", most: 8192)
        preferredApps = try fields.texts("preferredApps", most: 16)
        input = try fields.optionalMap("input") ?? [:]
        caller = try fields.text("caller")
        firstGivenAt = try fields.optionalInteger("firstGivenAt")
    }
}

/// A question to an app service.
public struct RelayCall: Hashable, Sendable {
    /// The app's bundle id.
    public var app: String
    /// The service's name.
    public var service: String
    /// The app that asks.
    public var caller: String
    /// The connection over which it is asked; `nil` for a question by itself.
    public var connection: UUID?
    /// The question.
    public var message: RelayMap
    /// When it was asked for the first time, where it is asked again; in milliseconds since 1970.
    public var firstGivenAt: Int64?
    /// Whether no response is expected. It is sent to apps alone: between devices the queued message implies it.
    public var isOneWay = false

    /// Describes a call.
    public init(app: String, service: String, caller: String, connection: UUID? = nil, message: RelayMap) {
        self.app = app
        self.service = service
        self.caller = caller
        self.connection = connection
        self.message = message
    }
}

/// The outcome of a command.
public struct RelayOutcome: Hashable, Sendable {
    /// How it ended.
    public var status: RelayStatus
    /// The response of an app service.
    public var message: RelayMap?
    /// More about a failure, for people.
    public var detail: String?

    /// Describes an outcome.
    public init(_ status: RelayStatus, message: RelayMap? = nil, detail: String? = nil) {
        self.status = status
        self.message = message
        self.detail = detail
    }

    var map: RelayMap {
        var map: RelayMap = ["status": .string(status.rawValue)]
        map.add("message", message.map(RelayValue.dictionary))
        map.add("detail", detail.map(RelayValue.string))
        return map
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "outcome")
        status = RelayStatus(rawValue: try fields.text("status")) ?? .failed
        message = try fields.optionalMap("message")
        detail = try fields.optionalText("detail", most: 4096)
    }
}

/// The status with which a command ended. It distinguishes "not delivered" from "outcome unknown".
public enum RelayStatus: String, Hashable, Sendable, CaseIterable {
    /// The command was done.
    case success
    /// The command arrived, and could not be done.
    case failed
    /// The app is not on the device.
    case appNotInstalled
    /// The app is on the device and cannot be reached now.
    case appUnavailable
    /// The app does not offer the service, or not to this caller's person.
    case serviceUnavailable
    /// The person has not granted it.
    case notAuthorized
    /// Nothing on the device opens addresses of this scheme.
    case protocolUnavailable
    /// The device's rules forbid it, or the person did.
    case denied
    /// The order is no order that any device carries out, or this device's rules forbid it; nothing was sent.
    case refusedHere
    /// The message is larger than is allowed; it was not sent.
    case tooLarge
    /// A limit on concurrent work was reached.
    case resourceLimits
    /// This device is not connected, or belongs to no account; nothing was sent.
    case networkUnavailable
    /// No device of the person has this id.
    case unknownDevice
    /// The device cannot be reached; the command did not arrive.
    case notDelivered
    /// The deadline came before the command was carried out.
    case expired
    /// The command was sent, and its outcome is unknown. It may be sent again under its id.
    case outcomeUnknown
    /// The caller took it back.
    case cancelled
    /// The connection is closed.
    case connectionClosed
    /// The document's present revision is not the expected one.
    case conflict
    /// There is no such document.
    case notFound
}

/// Why a connection to an app service ended.
public enum RelayCloseReason: String, Hashable, Sendable, CaseIterable {
    /// The connection was closed by one side.
    case completed
    /// The app or the system ended it.
    case cancelled
    /// A limit on concurrent work was reached.
    case resourceLimits
    /// Nothing had passed over it for a while.
    case idle
    /// The other device, or the connectivity to it, was lost.
    case unknown
}

/// The state of a command.
public enum CommandState: String, Hashable, Sendable, CaseIterable {
    /// The command has not left this device.
    case requesting
    /// The command is in transit.
    case sent
    /// The command has arrived and is being carried out.
    case executing
    /// The command has ended.
    case completed, failed, expired, cancelled
}
