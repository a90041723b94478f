import Foundation

/// A message from an app on one device to an app on another that wants no answer, and that the server keeps while the other device is
/// away. The server reads all of it but the body.
public struct RelayLetter: Hashable, Sendable {
    /// The most bytes of a body: its frame has room for any device's id.
    public static let bodyLimit = RelayLimits.frame.bytes - 1024
    /// How long one is kept unless its sender says otherwise, in milliseconds: a day.
    public static let usualAge: Int64 = 86_400_000
    /// How long one is kept at most, in milliseconds: 28 days.
    public static let longestAge: Int64 = 28 * 86_400_000

    /// On its way up the device that it is for, on its way down the one that it is from.
    public var peer: String
    /// Its id, by which a repetition is known.
    public var id: UUID
    /// When it is of no use any more, in milliseconds since 1970.
    public var deadline: Int64
    /// What only the two devices read: a ``RelayContent/call(_:)``.
    public var body: [UInt8]

    /// Makes a letter.
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
