import Foundation

/// A request about relaying from an app, or a user's terminal, to the agent.
///
/// `request` numbers are the client's own; the agent's response repeats them.
public enum RelayRequest: Hashable, Sendable {
    /// Offers services and the schemes that the app opens to other devices; takes the place of what was offered before.
    case publish(request: Int64, services: [RelayService], schemes: [String], attributes: [String: String])
    /// Report the devices, now and from now on: those that match any of the filters, or all where there is none.
    case watch(request: Int64, filters: [RelayDeviceFilter] = [])
    /// End the watch of devices.
    case unwatch(request: Int64)
    /// Does something on another device. The id makes a repetition known there; `nil` lets the agent draw one. The
    /// deadline is in milliseconds since 1970.
    /// `waits` lets the server keep it until then for a device that is away.
    case command(request: Int64, id: UUID?, device: String, deadline: Int64?, waits: Bool = false, RelayOrder)
    /// Finds a device by its id: one of this person's, or another person's that offers something to anyone. Answered by
    /// ``RelayNotice/found(request:_:)``.
    case find(request: Int64, device: String)
    /// The answer to ``RelayNotice/asked(call:id:device:deadline:_:)`` or
    /// ``RelayNotice/launch(call:device:_:)``.
    case answer(call: Int64, RelayOutcome)
    /// Closes a connection.
    case close(request: Int64, connection: UUID, RelayCloseReason)
    /// Takes a command back.
    case cancel(request: Int64, id: UUID)
    /// Asks for the state of a command of the last day.
    case life(request: Int64, id: UUID)
    /// A step of a stream, from its sender or its receiver: a request for pieces, a piece, or the outcome.
    case stream(UUID, RelayStreamStep)
    /// Asks about the app's documents, which the person's devices share.
    case document(request: Int64, RelayDocumentOrder)
    /// A user's command about the account and its access rights; only a terminal sends it.
    case manage(request: Int64, RelayManagement)
    /// A request of a later version.
    case unknown(String)

    /// How many filters a watcher names at most.
    public static let filterLimit = 16

    /// The bytes of the request.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    /// Reads a request.
    public init(_ bytes: some Collection<UInt8>) throws(RelayFault) {
        self = try Self.read(try RelayDecoder.decode(bytes, limits: .frame))
    }

    private var map: RelayMap {
        switch self {
        case .publish(let request, let services, let schemes, let attributes):
            var map: RelayMap = [
                "type": "publish", "request": .integer(request),
                "services": .array(services.map { .dictionary($0.map) }),
            ]
            map.add("schemes", texts: schemes)
            map.add("attributes", attributes: attributes)
            return map
        case .watch(let request, let filters):
            var map: RelayMap = ["type": "watch", "request": .integer(request)]
            if !filters.isEmpty { map["filters"] = .array(filters.map { .dictionary($0.map) }) }
            return map
        case .unwatch(let request): return ["type": "unwatch", "request": .integer(request)]
        case .command(let request, let id, let device, let deadline, let waits, let order):
            var map: RelayMap = [
                "type": "command", "request": .integer(request), "device": .string(device),
                "order": .dictionary(order.map),
            ]
            map.add("id", id.map(RelayValue.uuid))
            map.add("deadline", deadline.map(RelayValue.integer))
            if waits { map["waits"] = true }
            return map
        case .find(let request, let device):
            return ["type": "find", "request": .integer(request), "device": .string(device)]
        case .answer(let call, let outcome):
            return ["type": "answer", "call": .integer(call), "outcome": .dictionary(outcome.map)]
        case .close(let request, let connection, let reason):
            return [
                "type": "close", "request": .integer(request), "connection": .uuid(connection),
                "reason": .string(reason.rawValue),
            ]
        case .stream(let stream, let step):
            return step.map.merging(["type": "stream", "stream": .uuid(stream)]) { $1 }
        case .cancel(let request, let id): return ["type": "cancel", "request": .integer(request), "id": .uuid(id)]
        case .life(let request, let id): return ["type": "life", "request": .integer(request), "id": .uuid(id)]
        case .document(let request, let order):
            return order.map.merging(["type": "document", "request": .integer(request)]) { $1 }
        case .manage(let request, let management):
            return management.map.merging(["type": "manage", "request": .integer(request)]) { $1 }
        case .unknown(let type): return ["type": .string(type)]
        }
    }

    private static func read(_ map: RelayMap) throws(RelayFault) -> RelayRequest {
        let type = try RelayFields(map, "request").text("type")
        let fields = RelayFields(map, type)
        switch type {
        case "publish":
            var services: [RelayService] = []
            for map in try fields.maps("services", most: 32) { services.append(try RelayService(map)) }
            return .publish(
                request: try fields.integer("request"), services: services, schemes: try fields.texts("schemes"),
                attributes: try fields.attributes("attributes"))
        case "watch":
            var filters: [RelayDeviceFilter] = []
            for map in try fields.maps("filters", most: filterLimit) { filters.append(try RelayDeviceFilter(map)) }
            return .watch(request: try fields.integer("request"), filters: filters)
        case "unwatch": return .unwatch(request: try fields.integer("request"))
        case "command":
            return .command(
                request: try fields.integer("request"), id: try fields.optionalID("id"),
                device: try fields.text("device", most: 64),
                deadline: try fields.optionalInteger("deadline"),
                waits: try fields.flag("waits"), try RelayOrder(try fields.member("order")))
        case "find":
            return .find(request: try fields.integer("request"), device: try fields.text("device", most: 64))
        case "answer":
            return .answer(call: try fields.integer("call"), try RelayOutcome(try fields.member("outcome")))
        case "close":
            return .close(
                request: try fields.integer("request"), connection: try fields.id("connection"),
                RelayCloseReason(rawValue: try fields.optionalText("reason") ?? "") ?? .completed)
        case "stream": return .stream(try fields.id("stream"), try RelayStreamStep(fields))
        case "cancel": return .cancel(request: try fields.integer("request"), id: try fields.id("id"))
        case "life": return .life(request: try fields.integer("request"), id: try fields.id("id"))
        case "document":
            return .document(request: try fields.integer("request"), try RelayDocumentOrder(fields))
        case "manage": return .manage(request: try fields.integer("request"), try RelayManagement(fields))
        default: return .unknown(type)
        }
    }
}

/// A command for another device.
public enum RelayOrder: Hashable, Sendable {
    /// Open an address. The caller is filled in by the agent.
    case launch(uri: String, app: String?, fallback: String?, preferredApps: [String], input: RelayMap = [:])
    /// Sends one message to an app service without a connection.
    case call(app: String, service: String, message: RelayMap)
    /// Sends a message without a response to an app service, which is queued until the deadline for a device that is
    /// away. Answered when the server has stored it; ``RelayRequest/life(request:id:)`` reports the outcome.
    case tell(app: String, service: String, message: RelayMap)
    /// Open a connection to an app service; the command's id is the connection's.
    case open(app: String, service: String)
    /// Ask over a connection.
    case send(connection: UUID, message: RelayMap)
    /// Offer a stream to an app service, which asks for its pieces. Answered when the service has taken all of it, or
    /// refuses. The command's id is the stream's.
    case stream(RelayOffer)
    /// Send the file of this path; only a terminal asks that.
    case file(path: String, RelayOffer)

    var map: RelayMap {
        switch self {
        case .launch(let uri, let app, let fallback, let preferredApps, let input):
            var map: RelayMap = ["type": "launch", "uri": .string(uri)]
            map.add("app", app.map(RelayValue.string))
            map.add("fallback", fallback.map(RelayValue.string))
            map.add("preferredApps", texts: preferredApps)
            map.add("input", input.isEmpty ? nil : .dictionary(input))
            return map
        case .call(let app, let service, let message):
            return [
                "type": "call", "app": .string(app), "service": .string(service), "message": .dictionary(message),
            ]
        case .tell(let app, let service, let message):
            return [
                "type": "tell", "app": .string(app), "service": .string(service), "message": .dictionary(message),
            ]
        case .open(let app, let service): return ["type": "open", "app": .string(app), "service": .string(service)]
        case .send(let connection, let message):
            return ["type": "send", "connection": .uuid(connection), "message": .dictionary(message)]
        case .stream(let offer): return offer.map.merging(["type": "stream"]) { $1 }
        case .file(let path, let offer):
            return offer.map.merging(["type": "file", "path": .string(path)]) { $1 }
        }
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "order")
        switch try fields.text("type") {
        case "launch":
            self = .launch(
                uri: try fields.text("uri", most: 8192), app: try fields.optionalText("app"),
                fallback: try fields.optionalText("fallback", most: 8192),
                preferredApps: try fields.texts("preferredApps", most: 16),
                input: try fields.optionalMap("input") ?? [:])
        case "call":
            self = .call(
                app: try fields.text("app"), service: try fields.text("service"),
                message: try fields.member("message"))
        case "tell":
            self = .tell(
                app: try fields.text("app"), service: try fields.text("service"),
                message: try fields.member("message"))
        case "open": self = .open(app: try fields.text("app"), service: try fields.text("service"))
        case "send": self = .send(connection: try fields.id("connection"), message: try fields.member("message"))
        case "stream": self = .stream(try RelayOffer(fields))
        case "file": self = .file(path: try fields.text("path", most: 4096), try RelayOffer(fields))
        default: throw fields.fault("type", "launch, call, tell, open, send, stream or file")
        }
    }
}
