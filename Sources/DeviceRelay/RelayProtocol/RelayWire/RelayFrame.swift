import Foundation

/// A message about relaying between an agent and its server.
public enum RelayFrame: Hashable, Sendable {
    /// A device joins its user's devices, or updates its description. The access token proves that it is one of them.
    ///
    /// `wake` is how it can be woken while it has no session; `nil` for not at all. A device that reports the state it
    /// knows is answered by ``changes(_:)``.
    case hello(token: [UInt8], RelayDevice, wake: RelayWakeChannel? = nil, known: DirectoryRevision? = nil)
    /// A device leaves its person's devices.
    case goodbye
    /// The response to a hello, and the update of a device that missed something: its id, all present devices, and the
    /// number of this state. Those in `undescribed` are sent without their apps: each follows as
    /// ``changed(revision:_:)``.
    case welcome(device: String, revision: Int64, devices: [RelayDevice], undescribed: [String] = [])
    /// The changes of the devices, for a device that reports the state it knows; also the response to its hello.
    case changes(RelayChanges)
    /// A device is new or another.
    case changed(revision: Int64, RelayDevice)
    /// A device is none of them any more.
    case removed(revision: Int64, device: String)
    /// A device takes another from the person's devices.
    case dismiss(device: String)
    /// A device waits for another one that names the same rendezvous, of any user, to pair with it.
    case meet(place: [UInt8])
    /// Another device has named the same place; they can say something to each other now.
    case peerJoined(device: String)
    /// A device asks for one of another person's that offers something to anyone.
    case find(device: String)
    /// The answer: how other persons see the device, which can be asked from now on.
    case found(RelayDevice)
    /// There is no such device, or it offers nothing to anyone, or is not there.
    case notFound(device: String)
    /// A device of another person's has asked for this one.
    case visited(RelayDevice)
    /// A device's connection ended: messages in transit to it may have arrived or not.
    case interrupted(device: String)
    /// A message from one device to another.
    case route(RelayRoute)
    /// A device takes back what waits at the server for another that is away; nothing where that does not wait any
    /// more.
    case withdraw(device: String, id: UUID)
    /// A message that wants no answer. Up it is to be kept until its device has taken it; down it is for this device.
    case queuedMessage(QueuedMessage)
    /// The server has queued a device's message, and a power cut does not undo that.
    case queuedMessageKept(UUID)
    /// A device has durably taken a queued message of another: the server deletes it.
    case queuedMessageTaken(from: String, id: UUID)
    /// A device cancels its own message that is queued for another.
    case recall(device: String, id: UUID)
    /// Whether the message was queued; it no longer is.
    case recalled(id: UUID, didWait: Bool)
    /// A device asks about its account's documents; answered under the same id.
    case documentRequest(id: UUID, RelayDocumentRequest)
    /// The server's response.
    case documentAnswer(id: UUID, RelayDocumentAnswer)
    /// The account's documents have changed; a device that wants to know how asks for what is beyond what it knows.
    case documentsChanged
    /// A message did not reach the device, for certain.
    case undelivered(id: UUID, RelayUndelivered)
    /// The server refuses a frame; the cause in words.
    case refused(String)
    /// A frame of a later version.
    case unknown(String)

    /// The frame's bytes.
    public func encoded() throws(RelayFault) -> [UInt8] {
        if case .route(let route) = self, let bytes = route.encoded() { return bytes }
        return try RelayEncoder.encode(map, limits: .frame)
    }

    /// Reads a frame.
    public init(_ bytes: [UInt8]) throws(RelayFault) {
        if let route = RelayRoute(frame: bytes) {
            self = .route(route)
        } else {
            self = try Self.read(try RelayDecoder.decode(bytes, limits: .frame))
        }
    }

    private var map: RelayMap {
        switch self {
        case .hello(let token, let device, let wake, let known):
            Self.hello(token, device: device, wake: wake, known: known)
        case .goodbye: ["type": "goodbye"]
        case .welcome(let device, let revision, let devices, let undescribed):
            Self.welcome(device, revision: revision, devices: devices, undescribed: undescribed)
        case .changes(let changes): changes.map
        case .changed(let revision, let device):
            ["type": "changed", "revision": .integer(revision), "device": .dictionary(device.map)]
        case .removed(let revision, let device):
            ["type": "removed", "revision": .integer(revision), "device": .string(device)]
        case .meet(let place): ["type": "meet", "place": .data(place)]
        case .peerJoined(let device): ["type": "met", "device": .string(device)]
        case .dismiss(let device): ["type": "dismiss", "device": .string(device)]
        case .find(let device): ["type": "find", "device": .string(device)]
        case .found(let device): ["type": "found", "device": .dictionary(device.map)]
        case .notFound(let device): ["type": "notFound", "device": .string(device)]
        case .visited(let device): ["type": "visited", "device": .dictionary(device.map)]
        case .interrupted(let device): ["type": "interrupted", "device": .string(device)]
        case .route(let route): route.map
        case .withdraw(let device, let id): ["type": "withdraw", "device": .string(device), "id": .uuid(id)]
        case .queuedMessage(let queuedMessage): queuedMessage.map
        case .queuedMessageKept(let id): ["type": "letterKept", "id": .uuid(id)]
        case .queuedMessageTaken(let device, let id):
            ["type": "letterTaken", "device": .string(device), "id": .uuid(id)]
        case .recall(let device, let id): ["type": "recall", "device": .string(device), "id": .uuid(id)]
        case .recalled(let id, let didWait): ["type": "recalled", "id": .uuid(id), "didWait": .bool(didWait)]
        case .documentRequest(let id, let ask): ask.map.merging(["type": "documentAsk", "id": .uuid(id)]) { $1 }
        case .documentAnswer(let id, let answer):
            answer.map.merging(["type": "documentAnswer", "id": .uuid(id)]) { $1 }
        case .documentsChanged: ["type": "documentsChanged"]
        case .undelivered(let id, let reason):
            ["type": "undelivered", "id": .uuid(id), "reason": .string(reason.rawValue)]
        case .refused(let why): ["type": "refused", "reason": .string(why)]
        case .unknown(let type): ["type": .string(type)]
        }
    }

    private static func hello(
        _ token: [UInt8], device: RelayDevice, wake: RelayWakeChannel?, known: DirectoryRevision?
    ) -> RelayMap {
        var map: RelayMap = ["type": "hello", "token": .data(token), "device": .dictionary(device.map)]
        map.add("wake", wake.map { .dictionary($0.map) })
        map.add("known", known.map { .dictionary($0.map) })
        return map
    }

    private static func welcome(
        _ device: String, revision: Int64, devices: [RelayDevice], undescribed: [String]
    ) -> RelayMap {
        var map: RelayMap = [
            "type": "welcome", "device": .string(device), "revision": .integer(revision),
            "devices": .array(devices.map { .dictionary($0.map) }),
        ]
        map.add("rest", texts: undescribed)
        return map
    }

    private static func read(_ map: RelayMap) throws(RelayFault) -> RelayFrame {
        let type = try RelayFields(map, "frame").text("type")
        let fields = RelayFields(map, type)
        switch type {
        case "hello":
            let token = try fields.data("token")
            guard token.count == 32 else { throw fields.fault("token", "32 bytes") }
            var wake: RelayWakeChannel?
            if let map = try fields.optionalMap("wake") { wake = try RelayWakeChannel.read(map) }
            var known: DirectoryRevision?
            if let map = try fields.optionalMap("known") { known = try DirectoryRevision(map) }
            return .hello(token: token, try RelayDevice(try fields.member("device")), wake: wake, known: known)
        case "goodbye": return .goodbye
        case "welcome":
            var devices: [RelayDevice] = []
            for map in try fields.maps("devices", most: 256) { devices.append(try RelayDevice(map)) }
            return .welcome(
                device: try fields.text("device"), revision: try fields.integer("revision"), devices: devices,
                undescribed: try fields.texts("rest", most: 256))
        case "changes": return .changes(try RelayChanges(fields))
        case "changed":
            return .changed(revision: try fields.integer("revision"), try RelayDevice(try fields.member("device")))
        case "removed":
            return .removed(revision: try fields.integer("revision"), device: try fields.text("device"))
        case "meet":
            let place = try fields.data("place")
            guard place.count == 32 else { throw fields.fault("place", "32 bytes") }
            return .meet(place: place)
        case "met": return .peerJoined(device: try fields.text("device"))
        case "dismiss": return .dismiss(device: try fields.text("device"))
        case "find": return .find(device: try fields.text("device", most: 64))
        case "found": return .found(try RelayDevice(try fields.member("device")))
        case "notFound": return .notFound(device: try fields.text("device"))
        case "visited": return .visited(try RelayDevice(try fields.member("device")))
        case "interrupted": return .interrupted(device: try fields.text("device"))
        case "route": return .route(try RelayRoute(fields))
        case "withdraw": return .withdraw(device: try fields.text("device", most: 64), id: try fields.id("id"))
        case "letter": return .queuedMessage(try QueuedMessage(fields))
        case "letterKept": return .queuedMessageKept(try fields.id("id"))
        case "letterTaken":
            return .queuedMessageTaken(from: try fields.text("device", most: 64), id: try fields.id("id"))
        case "recall": return .recall(device: try fields.text("device", most: 64), id: try fields.id("id"))
        case "recalled": return .recalled(id: try fields.id("id"), didWait: try fields.flag("didWait"))
        case "documentAsk": return .documentRequest(id: try fields.id("id"), try RelayDocumentRequest(fields))
        case "documentAnswer": return .documentAnswer(id: try fields.id("id"), try RelayDocumentAnswer(fields))
        case "documentsChanged": return .documentsChanged
        case "undelivered":
            return .undelivered(
                id: try fields.id("id"), RelayUndelivered(rawValue: try fields.text("reason")) ?? .unavailable)
        case "refused": return .refused(try fields.text("reason"))
        default: return .unknown(type)
        }
    }
}

/// A message from device to device. The server reads all of it but the body.
public struct RelayRoute: Hashable, Sendable {
    /// The recipient where the frame goes to the server, the sender where it comes from it.
    public var peer: String
    /// The message's id, by which a repetition is known.
    public var id: UUID
    /// When it is of no use any more, in milliseconds since 1970; `nil` for never.
    public var deadline: Int64?
    /// The sealed contents, which only the two devices can read.
    public var body: [UInt8]
    /// Whether it is a piece of something large, which other messages may overtake.
    public var isBulk = false
    /// Whether the server keeps it until its deadline for a device that is away.
    public var waits = false

    /// Makes a route.
    public init(
        peer: String, id: UUID, deadline: Int64?, body: [UInt8], isBulk: Bool = false, waits: Bool = false
    ) {
        self.peer = peer
        self.id = id
        self.deadline = deadline
        self.body = body
        self.isBulk = isBulk
        self.waits = waits
    }

    var map: RelayMap {
        var map: RelayMap = ["type": "route", "peer": .string(peer), "id": .uuid(id), "body": .data(body)]
        map.add("deadline", deadline.map(RelayValue.integer))
        if isBulk { map["bulk"] = true }
        if waits { map["waits"] = true }
        return map
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        peer = try fields.text("peer", most: 64)
        id = try fields.id("id")
        deadline = try fields.optionalInteger("deadline")
        body = try fields.data("body")
        isBulk = try fields.flag("bulk")
        waits = try fields.flag("waits")
    }
}

/// Why a message did not reach its device.
public enum RelayUndelivered: String, Hashable, Sendable, CaseIterable {
    /// No device of the user has this id.
    case unknownDevice
    /// The device has no session with the server.
    case unavailable
    /// The device was to be woken, and its push service would not.
    case notWoken
    /// The device was to be woken, and did not come before the deadline.
    case asleep
    /// The message's deadline had passed.
    case expired
    /// The device does not take messages as fast as they come.
    case overloaded
    /// The sender has not sent a hello.
    case notJoined
    /// The message is larger than any may be.
    case tooLarge
    /// The queue of messages for the device is full.
    case full
    /// The server could not store the queued message.
    case notKept
    /// The device has not proven that it is of the account; reported only by the sender's own agent.
    case untrusted
    /// The device has restarted and cannot read messages sealed for it before; reported only by the sender's own agent.
    case begunAnew
}
