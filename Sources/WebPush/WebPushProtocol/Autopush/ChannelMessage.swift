/// A message for one of a client's subscriptions.
///
/// The bytes are a mark that no JSON begins with, the 16 bytes of the subscription's id, and those of the envelope.
package struct ChannelMessage: Hashable, Sendable {
    /// The subscription.
    package var channel: PushChannelID
    /// The message as its sender encrypted it.
    package var envelope: WebPushEnvelope

    /// Takes the parts.
    package init(channel: PushChannelID, envelope: WebPushEnvelope) {
        self.channel = channel
        self.envelope = envelope
    }

    private static let mark: [UInt8] = [0x01, UInt8(ascii: "w"), UInt8(ascii: "c")]

    /// The message's bytes, as a mailbox stores them.
    package var bytes: [UInt8] { Self.mark + channel.bytes + envelope.bytes }

    /// Reads ``bytes``; `nil` for anything else.
    package init?(bytes: [UInt8]) {
        guard bytes.starts(with: Self.mark) else { return nil }
        let rest = bytes.dropFirst(Self.mark.count)
        guard let channel = PushChannelID(bytes: rest.prefix(16)),
            let envelope = WebPushEnvelope(bytes: Array(rest.dropFirst(16)))
        else { return nil }
        self.init(channel: channel, envelope: envelope)
    }
}
