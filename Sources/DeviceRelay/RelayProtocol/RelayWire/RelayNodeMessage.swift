import Foundation

/// A message between the relays of several servers.
public enum RelayNodeMessage: Hashable, Sendable {
    /// Devices or documents of an account have changed, and are read from the store.
    case changed(account: [UInt8], revision: Int64)
    /// A message was stored for a device.
    case stored(device: String, deadline: Int64)
    /// A frame for a session of the server that receives this; `sender` is the session that it is from, where there is one.
    case frame([UInt8], to: RelaySession, from: RelaySession?)
    /// A frame for a device, wherever its session is.
    case notice([UInt8], device: String)
    /// A session recalls a message that it has posted for a device of the server that receives this.
    case recall(id: UUID, device: String, by: RelaySession)
    /// A session asks for a device of another person's, which has a session with the server that receives this.
    case find(device: String, visitor: RelayDevice, by: RelaySession)
    /// Messages may have been lost: the server that receives this reads everything again.
    case lost

    private static let limits = RelayLimits(bytes: 512 << 10, depth: 20, entries: 8192)

    /// The message's bytes.
    ///
    /// - Parameter node: The server that sends it, whose sessions have no number of a server in its directory.
    public func encoded(from node: UInt16) throws(RelayFault) -> [UInt8] {
        try RelayEncoder.encode(map(node), limits: Self.limits)
    }

    private func map(_ node: UInt16) -> RelayMap {
        switch self {
        case .changed(let account, let revision):
            ["type": "changed", "account": .data(account), "revision": .integer(revision)]
        case .stored(let device, let deadline):
            ["type": "stored", "device": .string(device), "deadline": .integer(deadline)]
        case .frame(let bytes, let target, let sender):
            Self.frame(bytes, to: target.map(node), from: sender?.map(node))
        case .notice(let bytes, let device): ["type": "notice", "frame": .data(bytes), "device": .string(device)]
        case .recall(let id, let device, let session):
            ["type": "recall", "id": .uuid(id), "device": .string(device), "by": .dictionary(session.map(node))]
        case .find(let device, let visitor, let session):
            [
                "type": "find", "device": .string(device), "visitor": .dictionary(visitor.map),
                "by": .dictionary(session.map(node)),
            ]
        case .lost: ["type": "lost"]
        }
    }

    private static func frame(_ bytes: [UInt8], to target: RelayMap, from sender: RelayMap?) -> RelayMap {
        var map: RelayMap = ["type": "frame", "frame": .data(bytes), "to": .dictionary(target)]
        map.add("from", sender.map { .dictionary($0) })
        return map
    }

    /// Reads a message.
    ///
    /// - Parameter node: The server that reads it.
    public init(_ bytes: [UInt8], at node: UInt16) throws(RelayFault) {
        let fields = RelayFields(try RelayDecoder.decode(bytes, limits: Self.limits), "message")
        func session(_ key: String) throws(RelayFault) -> RelaySession {
            try RelaySession(RelayFields(try fields.member(key), key), at: node)
        }
        switch try fields.text("type") {
        case "changed":
            self = .changed(account: try fields.data("account"), revision: try fields.integer("revision"))
        case "stored": self = .stored(device: try fields.text("device"), deadline: try fields.integer("deadline"))
        case "frame":
            let sender = fields.map["from"] == nil ? nil : try session("from")
            self = .frame(try fields.data("frame"), to: try session("to"), from: sender)
        case "notice": self = .notice(try fields.data("frame"), device: try fields.text("device"))
        case "recall":
            self = .recall(id: try fields.id("id"), device: try fields.text("device"), by: try session("by"))
        case "find":
            let visitor = try RelayDevice(try fields.member("visitor"))
            self = .find(device: try fields.text("device"), visitor: visitor, by: try session("by"))
        case "lost": self = .lost
        default: throw fields.fault("type", "a type of message between servers")
        }
    }
}

extension RelaySession {
    /// The session as another server sees it.
    fileprivate func map(_ node: UInt16) -> RelayMap {
        [
            "device": .string(device), "epoch": .integer(Int64(bitPattern: epoch)),
            "node": .integer(Int64(self.node ?? node)),
        ]
    }

    fileprivate init(_ fields: RelayFields, at node: UInt16) throws(RelayFault) {
        guard let holder = UInt16(exactly: try fields.integer("node")) else {
            throw fields.fault("node", "a number of a server")
        }
        self.init(
            device: try fields.text("device"), epoch: UInt64(bitPattern: try fields.integer("epoch")),
            node: holder == node ? nil : holder)
    }
}
