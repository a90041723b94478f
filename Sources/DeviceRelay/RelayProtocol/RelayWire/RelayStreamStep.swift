import Foundation

/// A message between the two ends of an app's stream, passed on by their agents.
public enum RelayStreamStep: Hashable, Sendable {
    /// The receiver asks for `length` bytes from `offset`. `prefix` is the digest (SHA-256) of the bytes that it had
    /// before the first request; empty in later requests, or where it had none.
    case pull(offset: Int64, length: Int64, prefix: [UInt8])
    /// A piece, of at most ``pieceSize`` bytes.
    case piece(offset: Int64, [UInt8])
    /// All pieces were sent; the digest (SHA-256) of the whole.
    ///
    /// An app whose pieces began at 0 leaves it empty: its agent computes the digest from the pieces. The other agent
    /// compares it, where it received all of the stream. Where it differs, that agent's app receives an empty one.
    case allGiven(digest: [UInt8])
    /// The receiver's outcome.
    case taken(RelayOutcome)
    /// The other end, or the connectivity to it, was lost; sent by the agent.
    case lost

    /// How large a piece is at most, in bytes.
    public static let pieceSize = 64 << 10
    /// How many bytes may be asked for and not given yet.
    public static let window: Int64 = 8 << 20

    var map: RelayMap {
        switch self {
        case .pull(let offset, let length, let prefix):
            ["step": "pull", "offset": .integer(offset), "length": .integer(length), "prefix": .data(prefix)]
        case .piece(let offset, let bytes): ["step": "piece", "offset": .integer(offset), "bytes": .data(bytes)]
        case .allGiven(let digest): ["step": "allGiven", "digest": .data(digest)]
        case .taken(let outcome): ["step": "taken", "outcome": .dictionary(outcome.map)]
        case .lost: ["step": "lost"]
        }
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        switch try fields.text("step") {
        case "pull":
            self = .pull(
                offset: try fields.integer("offset"), length: try fields.integer("length"),
                prefix: try fields.optionalData("prefix", most: 32))
        case "piece":
            self = .piece(
                offset: try fields.integer("offset"), try fields.optionalData("bytes", most: Self.pieceSize))
        case "allGiven": self = .allGiven(digest: try fields.optionalData("digest", most: 32))
        case "taken": self = .taken(try RelayOutcome(try fields.member("outcome")))
        case "lost": self = .lost
        default: throw fields.fault("step", "pull, piece, allGiven, taken or lost")
        }
    }
}
