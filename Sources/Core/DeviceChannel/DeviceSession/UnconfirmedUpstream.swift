/// The upstream messages of one connection that are durable here, as long as the device may not know it.
///
/// A packet of the server's that confirms them may be lost with the connection. Only when the device acknowledges that
/// packet, or a later one, is it proven that it knows.
struct UnconfirmedUpstream: Sendable {
    private struct Doubt {
        /// The packet of the device's that brought the message.
        var stream: Int32
        var name: String
        /// The first packet of the server's that confirms it; `nil` before.
        var told: Int32?
    }

    /// The most messages kept. Older ones are not confirmed to the device, which repeats them; repetitions are
    /// recognised by name.
    static let limit = 32
    /// A longer name is not kept, in bytes of UTF-8.
    static let longestName = 128

    private var doubts: [Doubt] = []

    /// In the order in which they came.
    var names: [String] { doubts.map(\.name) }

    /// A message is durable.
    mutating func add(_ name: String, stream: Int32) {
        guard name.utf8.count <= Self.longestName else { return }
        let place = doubts.lastIndex { $0.stream < stream }.map { $0 + 1 } ?? 0
        doubts.insert(Doubt(stream: stream, name: name), at: place)
        if doubts.count > Self.limit { doubts.removeFirst(doubts.count - Self.limit) }
    }

    /// Records that a packet of the server confirms everything up to a packet of the device.
    mutating func told(through stream: Int32, by packet: Int32) {
        guard !doubts.isEmpty else { return }
        for index in doubts.indices where doubts[index].stream <= stream && doubts[index].told == nil {
            doubts[index].told = packet
        }
    }

    /// The device has received the server's packets up to this one.
    mutating func proven(through packet: Int32) {
        guard !doubts.isEmpty else { return }
        doubts.removeAll { $0.told.map { $0 <= packet } ?? false }
    }
}
