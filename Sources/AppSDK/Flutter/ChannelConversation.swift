/// The messages that wait for a reply on one socket, and those that wait for a host; no I/O.
struct ChannelConversation<Reply> {
    /// An arrival from the host.
    enum Arrival {
        /// A message on a channel; the reply carries its number.
        case message(number: UInt32, channel: String, content: [UInt8])
        /// The reply to one of our messages.
        case reply(Reply, content: [UInt8])
    }

    /// How many messages wait while no host is connected.
    static var queueLimit: Int { 64 }

    private var isOpen = false
    private var lastNumber: UInt32 = 0
    private var queue: [(channel: String, content: [UInt8], reply: Reply)] = []
    private var replies: [UInt32: Reply] = [:]

    /// Sends a message of ours: returns the frame to write, if there is a host, and the reply of the message that it
    /// displaces.
    mutating func send(_ content: [UInt8], on channel: String, reply: Reply) -> (frame: ChannelFrame?, givenUp: Reply?)
    {
        guard !isOpen else { return (frame(content, channel: channel, reply: reply), nil) }
        queue.append((channel, content, reply))
        return (nil, queue.count > Self.queueLimit ? queue.removeFirst().reply : nil)
    }

    /// A host has connected: returns the frames to send to it.
    mutating func opened() -> [ChannelFrame] {
        isOpen = true
        defer { queue = [] }
        return queue.map { frame($0.content, channel: $0.channel, reply: $0.reply) }
    }

    /// The host is gone: returns the replies that will not come.
    mutating func closed() -> [Reply] {
        isOpen = false
        defer { replies = [:] }
        return replies.sorted { $0.key < $1.key }.map(\.value)
    }

    /// A frame came; `nil` for a reply to nothing.
    mutating func received(_ frame: ChannelFrame) -> Arrival? {
        switch frame {
        case .message(let number, let channel, let content):
            .message(number: number, channel: channel, content: content)
        case .reply(let number, let content): replies.removeValue(forKey: number).map { .reply($0, content: content) }
        }
    }

    private mutating func frame(_ content: [UInt8], channel: String, reply: Reply) -> ChannelFrame {
        lastNumber &+= 1
        replies[lastNumber] = reply
        return .message(number: lastNumber, channel: channel, content: content)
    }
}
