import NATSCarrier
import PushServer
import RelayProtocol

/// What a NATS server sends, and what nodes send to each other.
///
/// The first byte of the input says how the rest is cut into pieces. Messages that were read must be written and read again as the
/// same messages.
enum NodeMessageFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        guard let first = input.first else { return }
        let rest = Array(input.dropFirst())
        // A refusal is what most inputs deserve.
        if let messages = try? NodeMessageWire.decode(rest) {
            let written = NodeMessageWire.encode(messages, limit: .max)
            precondition(
                messages.isEmpty || (try? written.flatMap(NodeMessageWire.decode)) == messages,
                "messages are read again as they were written")
        }
        readSystems(rest)
        var decoder = NATSFrameDecoder()
        var left = rest[...]
        do {
            while !left.isEmpty {
                decoder.append(left.prefix(Int(first) + 1))
                left = left.dropFirst(Int(first) + 1)
                while let frame = try decoder.next() { if case .message(let message) = frame { read(message) } }
            }
        } catch {
            // A refusal, as above.
        }
    }

    /// The messages of systems, which are read again as they were written.
    private static func readSystems(_ bytes: [UInt8]) {
        if let message = try? RelayNodeMessage(bytes, at: 1), let written = try? message.encoded(from: 1) {
            precondition((try? RelayNodeMessage(written, at: 1)) == message, "a message of the relay is read again")
        }
        if let message = FeedMessage(bytes) { precondition(FeedMessage(message.encoded) == message, "so are changes") }
        if let message = MediaNodeMessage(bytes) {
            precondition(MediaNodeMessage(message.encoded) == message, "so are pieces of files")
        }
    }

    private static func read(_ message: NATSMessage) {
        precondition(message.payload.count <= NATSFrameDecoder.payloadLimit, "a payload is within its limit")
    }
}
