import Foundation

/// The reason why a device cannot find others.
public enum DiscoveryFailure: String, Hashable, Sendable, CaseIterable {
    /// The device belongs to no account.
    case noAccount
    /// The server does not take it, or it was taken from its account.
    case refused
    /// The device has no session with the server, and reaches no device without.
    case notConnected
}

/// A message about relaying from the agent to an app, or to a user's terminal.
public enum RelayNotice: Hashable, Sendable {
    /// The outcome of a request; for a command with its id.
    case answered(request: Int64, id: UUID?, RelayOutcome)
    /// The state of a command; `nil` for one that is not known any more. With the outcome once it has ended.
    case life(request: Int64, CommandState?, RelayStatus?, _ detail: String? = nil)
    /// The result of a terminal's request, by name.
    case managed(request: Int64, RelayMap)
    /// A device was found by its id: one of this person's, or another person's, of which what it offers to anyone can
    /// be asked.
    case found(request: Int64, RelayDevice)
    /// A device is present: the first report of it to this watcher.
    case added(RelayDevice)
    /// A device is another.
    case updated(RelayDevice)
    /// A device is none of the person's any more.
    case removed(device: String)
    /// All devices that were present when the watch began have been reported; the watch continues.
    case enumerationCompleted
    /// The reason why devices cannot be found, also in words. The watch continues.
    case watchFailed(DiscoveryFailure, String)
    /// Another device calls this app's service; answered by ``RelayRequest/answer(call:_:)``. Where no response is
    /// expected, the answer confirms that the app has stored the message. A message whose confirmation the agent could
    /// not note before it ended is delivered again under its id.
    case asked(call: Int64, id: UUID, device: String, deadline: Int64?, RelayCall)
    /// The request of this number to the app was cancelled, or its deadline has passed.
    case cancelled(call: Int64)
    /// Another device has opened a connection to this app's service; `caller` is the app there.
    case opened(connection: UUID, device: String, app: String, service: String, caller: String)
    /// A connection of this app is closed, and why: by the other side, or because the connectivity was lost.
    case closed(connection: UUID, RelayCloseReason)
    /// Another device offers a stream to this app's service; answered by a step of the request
    /// ``RelayRequest/stream(_:_:)``.
    case offered(stream: UUID, device: String, RelayOffer)
    /// A step of a stream from its other end.
    case stream(UUID, RelayStreamStep)
    /// Another device asks this app to open an address; answered by ``RelayRequest/answer(call:_:)``.
    case launch(call: Int64, device: String, RelayLaunch)
    /// How much of a file has been asked for by its taker, of how many bytes.
    case progress(request: Int64, done: Int64, size: Int64)
    /// A file has come from another device, and lies here.
    case received(device: String, path: String)
    /// Something about what a terminal asked for has changed, by name.
    case told(request: Int64, RelayMap)
    /// A notice of a later version.
    case unknown(String)

    /// The bytes of the notice.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    /// Reads a notice.
    public init(_ bytes: some Collection<UInt8>) throws(RelayFault) {
        self = try Self.read(try RelayDecoder.decode(bytes, limits: .frame))
    }

    private var map: RelayMap {
        switch self {
        case .answered(let request, let id, let outcome):
            var map: RelayMap = [
                "type": "answered", "request": .integer(request), "outcome": .dictionary(outcome.map),
            ]
            map.add("id", id.map(RelayValue.uuid))
            return map
        case .life(let request, let life, let status, let detail):
            var map: RelayMap = ["type": "life", "request": .integer(request)]
            map.add("life", life.map { .string($0.rawValue) })
            map.add("status", status.map { .string($0.rawValue) })
            map.add("detail", detail.map(RelayValue.string))
            return map
        case .managed(let request, let answer):
            return ["type": "managed", "request": .integer(request), "answer": .dictionary(answer)]
        case .found(let request, let device):
            return ["type": "found", "request": .integer(request), "device": .dictionary(device.map)]
        case .added(let device): return ["type": "added", "device": .dictionary(device.map)]
        case .updated(let device): return ["type": "updated", "device": .dictionary(device.map)]
        case .removed(let device): return ["type": "removed", "device": .string(device)]
        case .enumerationCompleted: return ["type": "enumerationCompleted"]
        case .watchFailed(let obstacle, let why):
            return ["type": "watchFailed", "obstacle": .string(obstacle.rawValue), "reason": .string(why)]
        case .asked(let number, let id, let device, let deadline, let call):
            var map: RelayMap = [
                "type": "asked", "call": .integer(number), "id": .uuid(id), "device": .string(device),
                "app": .string(call.app), "service": .string(call.service), "caller": .string(call.caller),
                "message": .dictionary(call.message),
            ]
            map.add("deadline", deadline.map(RelayValue.integer))
            map.add("connection", call.connection.map(RelayValue.uuid))
            if call.isOneWay { map["oneWay"] = true }
            return map
        case .cancelled(let number): return ["type": "cancelled", "call": .integer(number)]
        case .opened(let connection, let device, let app, let service, let caller):
            return [
                "type": "opened", "connection": .uuid(connection), "device": .string(device), "app": .string(app),
                "service": .string(service), "caller": .string(caller),
            ]
        case .closed(let connection, let reason):
            return ["type": "closed", "connection": .uuid(connection), "reason": .string(reason.rawValue)]
        case .offered(let stream, let device, let offer):
            return offer.map.merging(["type": "offered", "stream": .uuid(stream), "device": .string(device)]) { $1 }
        case .stream(let stream, let step):
            return step.map.merging(["type": "stream", "stream": .uuid(stream)]) { $1 }
        case .launch(let call, let device, let launch):
            return launch.map.merging([
                "type": "launch", "call": .integer(call), "device": .string(device),
            ]) { $1 }
        case .progress(let request, let done, let size):
            return [
                "type": "progress", "request": .integer(request), "done": .integer(done), "size": .integer(size),
            ]
        case .received(let device, let path):
            return ["type": "received", "device": .string(device), "path": .string(path)]
        case .told(let request, let news):
            return ["type": "told", "request": .integer(request), "news": .dictionary(news)]
        case .unknown(let type): return ["type": .string(type)]
        }
    }

    private static func read(_ map: RelayMap) throws(RelayFault) -> RelayNotice {
        let type = try RelayFields(map, "notice").text("type")
        let fields = RelayFields(map, type)
        switch type {
        case "answered":
            return .answered(
                request: try fields.integer("request"), id: try fields.optionalID("id"),
                try RelayOutcome(try fields.member("outcome")))
        case "life":
            return .life(
                request: try fields.integer("request"), try fields.optionalText("life").flatMap(CommandState.init),
                try fields.optionalText("status").flatMap(RelayStatus.init),
                try fields.optionalText("detail", most: 4096))
        case "managed": return .managed(request: try fields.integer("request"), try fields.member("answer"))
        case "found":
            return .found(request: try fields.integer("request"), try RelayDevice(try fields.member("device")))
        case "added": return .added(try RelayDevice(try fields.member("device")))
        case "updated": return .updated(try RelayDevice(try fields.member("device")))
        case "removed": return .removed(device: try fields.text("device"))
        case "enumerationCompleted": return .enumerationCompleted
        case "watchFailed":
            return .watchFailed(
                try fields.optionalText("obstacle").flatMap(DiscoveryFailure.init) ?? .notConnected,
                try fields.text("reason"))
        case "asked":
            var call = RelayCall(
                app: try fields.text("app"), service: try fields.text("service"),
                caller: try fields.text("caller"), connection: try fields.optionalID("connection"),
                message: try fields.member("message"))
            call.isOneWay = try fields.flag("oneWay")
            return .asked(
                call: try fields.integer("call"), id: try fields.id("id"), device: try fields.text("device"),
                deadline: try fields.optionalInteger("deadline"), call)
        case "cancelled": return .cancelled(call: try fields.integer("call"))
        case "opened":
            return .opened(
                connection: try fields.id("connection"), device: try fields.text("device"),
                app: try fields.text("app"), service: try fields.text("service"),
                caller: try fields.optionalText("caller") ?? "")
        case "closed":
            return .closed(
                connection: try fields.id("connection"),
                RelayCloseReason(rawValue: try fields.text("reason")) ?? .unknown)
        case "offered":
            return .offered(
                stream: try fields.id("stream"), device: try fields.text("device"), try RelayOffer(fields))
        case "stream": return .stream(try fields.id("stream"), try RelayStreamStep(fields))
        case "launch":
            return .launch(
                call: try fields.integer("call"), device: try fields.text("device"), try RelayLaunch(fields))
        case "progress":
            return .progress(
                request: try fields.integer("request"), done: try fields.integer("done"),
                size: try fields.integer("size"))
        case "received":
            return .received(device: try fields.text("device"), path: try fields.text("path", most: 4096))
        case "told": return .told(request: try fields.integer("request"), try fields.member("news"))
        default: return .unknown(type)
        }
    }
}
