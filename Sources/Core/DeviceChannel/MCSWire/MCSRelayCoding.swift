/// A relay frame between devices, in either direction: a data message stanza with a category of its own. Clients that
/// do not know the category ignore it.
///
/// On a busy device most stanzas are relay frames, so the coding is written by hand. The bytes are those that
/// SwiftProtobuf makes.
package struct MCSRelayedFrame: Hashable, Sendable {
    /// The frame that is relayed; the stanza's `raw_data`.
    package var frame: [UInt8]
    /// The last stream id that the packet acknowledges; `nil` for none.
    package var lastStreamIDReceived: Int32?

    /// A frame in a packet that acknowledges nothing yet.
    package init(_ frame: [UInt8]) { self.frame = frame }

    /// The frame of a stanza; `nil` where its category is another.
    init?(_ stanza: MCSDataMessageStanza) {
        guard stanza.category == MCSUpstream.relayCategory else { return nil }
        frame = [UInt8](stanza.rawData)
        lastStreamIDReceived = stanza.hasLastStreamIDReceived ? stanza.lastStreamIDReceived : nil
    }

    /// The fields `from`, `to` and `category`, with which each such stanza of ours begins.
    private static let head: [UInt8] = {
        var bytes: [UInt8] = []
        Protobuf.append(3, MCSUpstream.serverAddress, to: &bytes)
        Protobuf.append(4, MCSUpstream.serverAddress, to: &bytes)
        Protobuf.append(5, MCSUpstream.relayCategory, to: &bytes)
        return bytes
    }()
    private static let acknowledgementKey: UInt8 = 11 << 3
    private static let dataKey: [UInt8] = [21 << 3 & 0x7F | 2 | 0x80, 21 >> 4]

    /// Reads a stanza as ``append(to:)`` writes it; `nil` for any other, which may be such a stanza all the same.
    init?(body: [UInt8]) {
        guard body.starts(with: Self.head) else { return nil }
        var index = Self.head.count
        if index < body.count, body[index] == Self.acknowledgementKey {
            index += 1
            guard let stream = Protobuf.varint(in: body, at: &index) else { return nil }
            lastStreamIDReceived = Int32(truncatingIfNeeded: stream)
        }
        guard body[index...].starts(with: Self.dataKey) else { return nil }
        index += Self.dataKey.count
        guard let size = Protobuf.varint(in: body, at: &index), size == UInt64(body.count - index) else { return nil }
        frame = [UInt8](body[index...])
    }

    /// How many bytes ``append(to:)`` appends.
    var size: Int {
        let acknowledgement = lastStreamIDReceived.map { 1 + Protobuf.varintLength(UInt64(bitPattern: Int64($0))) } ?? 0
        return Self.head.count + acknowledgement + Self.dataKey.count + Protobuf.varintLength(UInt64(frame.count))
            + frame.count
    }

    /// Appends the stanza.
    func append(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: Self.head)
        if let lastStreamIDReceived { Protobuf.append(11, Int64(lastStreamIDReceived), to: &bytes) }
        bytes.append(contentsOf: Self.dataKey)
        Protobuf.appendVarint(UInt64(frame.count), to: &bytes)
        bytes.append(contentsOf: frame)
    }
}
