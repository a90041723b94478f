import Foundation

/// A message between two devices over a direct connection, without the server.
public enum DirectMessage: Hashable, Sendable {
    /// The initiator of the connection has read the response to its handshake: the connection may be used.
    case live
    /// Everything relayed before the announcement has arrived; direct messages may follow.
    case ready
    /// A message; the number counts what needs an answer in this direction, from 1.
    case route(number: Int64, RelayRoute)
    /// Shows only that the sender is reachable; numbered like a message.
    case probe(number: Int64)
    /// All up to this number has come.
    case taken(upTo: Int64)
    /// A message of a later version.
    case unknown(String)

    /// The message's bytes.
    public func encoded() throws(RelayFault) -> [UInt8] { try RelayEncoder.encode(map, limits: .frame) }

    /// Reads a message. The peer of a route in it is empty: it is that of the connection.
    public init(_ bytes: some Collection<UInt8>) throws(RelayFault) {
        let map = try RelayDecoder.decode(bytes, limits: .frame)
        let type = try RelayFields(map, "message").text("type")
        let fields = RelayFields(map, type)
        switch type {
        case "live": self = .live
        case "ready": self = .ready
        case "route": self = .route(number: try fields.integer("number"), try RelayRoute(fields))
        case "probe": self = .probe(number: try fields.integer("number"))
        case "taken": self = .taken(upTo: try fields.integer("upTo"))
        default: self = .unknown(type)
        }
    }

    private var map: RelayMap {
        switch self {
        case .live: return ["type": "live"]
        case .ready: return ["type": "ready"]
        case .route(let number, let route):
            var map = route.map
            map["peer"] = ""
            map["number"] = .integer(number)
            return map
        case .probe(let number): return ["type": "probe", "number": .integer(number)]
        case .taken(let number): return ["type": "taken", "upTo": .integer(number)]
        case .unknown(let type): return ["type": .string(type)]
        }
    }
}
