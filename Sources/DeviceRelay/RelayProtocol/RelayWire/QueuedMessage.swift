import Foundation

/// A message from an app on one device to an app on another that wants no answer, and that the server keeps while the
/// other device is away. The server reads all of it but the body.
public struct QueuedMessage: Hashable, Sendable {
    /// The most bytes of a body: its frame leaves space for any device's id.
    public static let bodyLimit = RelayLimits.frame.bytes - 1024
    /// How long a message is queued unless its sender sets another time, in milliseconds: a day.
    public static let usualAge: Int64 = 86_400_000
    /// How long one is kept at most, in milliseconds: 28 days.
    public static let longestAge: Int64 = 28 * 86_400_000

    /// The recipient where the frame goes to the server, the sender where it comes from it.
    public var peer: String
    /// The message's id, by which a repetition is detected.
    public var id: UUID
    /// When it is of no use any more, in milliseconds since 1970.
    public var deadline: Int64
    /// The sealed contents, which only the two devices can read: a ``RelayContent/call(_:)``.
    public var body: [UInt8]

    /// Makes a message.
    public init(peer: String, id: UUID, deadline: Int64, body: [UInt8]) {
        self.peer = peer
        self.id = id
        self.deadline = deadline
        self.body = body
    }

    var map: RelayMap {
        [
            "type": "letter", "peer": .string(peer), "id": .uuid(id), "deadline": .integer(deadline),
            "body": .data(body),
        ]
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        peer = try fields.text("peer", most: 64)
        id = try fields.id("id")
        deadline = try fields.integer("deadline")
        body = try fields.data("body")
    }
}
