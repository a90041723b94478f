import PushCore
import WebPushProtocol

/// Messages of browsers, one a line, and their ids and addresses: nothing may trap, and nothing is said after the end. What is
/// read is written back as it was.
enum AutopushFuzz: FuzzTest {
    private static let sealer = SubscriptionSealer(keys: [[UInt8](repeating: 7, count: 32)])
    private static let client = PushClientID(text: "00000000000000070000000000000009")

    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let input = Array(input)
        let text = String(decoding: input, as: UTF8.self)
        if let id = PushChannelID(text: text) {
            precondition(id.description == text, "an id was not written as it was read")
        }
        if let id = PushClientID(text: text) { precondition(PushClientID(text: id.text) == id) }
        _ = sealer.open(text)
        if let message = ChannelMessage(bytes: input) {
            precondition(message.bytes == input, "a message was not written as it was read")
        }
        guard let client else { return }
        var session = AutopushSession(at: 0)
        for (number, line) in input.split(separator: UInt8(ascii: "\n")).prefix(64).enumerated() {
            let wasClosed = session.isClosed
            var pending = session.received(Array(line), at: Int64(number))
            precondition(!wasClosed || pending.isEmpty, "a session that has ended said something")
            while !pending.isEmpty {
                let directive = pending.removeFirst()
                pending += answer(directive, client, &session, at: Int64(number))
            }
            _ = session.tick(at: Int64(number))
        }
    }

    /// Does what a server does, and returns what follows from it.
    private static func answer(
        _ directive: AutopushSession.Directive, _ client: PushClientID, _ session: inout AutopushSession,
        at uptime: Int64
    ) -> [AutopushSession.Directive] {
        switch directive {
        case .send(let reply):
            precondition((try? JSONValue(text: reply.text)) != nil, "an answer is no JSON")
            return []
        case .open(let known): return session.openingAnswered(known.map { .opened($0) } ?? .drawn(client), at: uptime)
        case .register(let channel, _):
            return session.registrationAnswered(.registered(channel, address: "https://a/b"), at: uptime)
        case .unregister(let channel): return session.unregistrationAnswered(channel, at: uptime)
        default: return []
        }
    }
}
