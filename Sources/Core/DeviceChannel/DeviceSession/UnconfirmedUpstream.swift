/// The upstream messages of one connection that are durable here, as long as the device may not know it.
///
/// A packet of the server's that confirms them may be lost with the connection. Only when the device acknowledges that
/// packet, or a later one, is it proven that it knows.
struct UnconfirmedUpstream: Sendable {
    private struct Entry {
        /// The packet of the device's that brought the message.
        var stream: Int32
        var name: String
        /// The first packet of the server's that confirms it; `nil` before.
        var confirmedBy: Int32?
    }

    /// The most messages kept. Older ones are not confirmed to the device, which repeats them; repetitions are
    /// recognised by name.
    static let limit = 32
    /// A longer name is not kept, in bytes of UTF-8.
    static let longestName = 128

    private var entries: [Entry] = []

    /// The names in the order of their arrival.
    var names: [String] { entries.map(\.name) }

    /// A message is durable.
    mutating func add(_ name: String, stream: Int32) {
        guard name.utf8.count <= Self.longestName else { return }
        let place = entries.lastIndex { $0.stream < stream }.map { $0 + 1 } ?? 0
        entries.insert(Entry(stream: stream, name: name), at: place)
        if entries.count > Self.limit { entries.removeFirst(entries.count - Self.limit) }
    }

    /// Records that a packet of the server confirms everything up to a packet of the device.
    mutating func confirm(through stream: Int32, by packet: Int32) {
        guard !entries.isEmpty else { return }
        for index in entries.indices where entries[index].stream <= stream && entries[index].confirmedBy == nil {
            entries[index].confirmedBy = packet
        }
    }

    /// The device has received the server's packets up to this one.
    mutating func proven(through packet: Int32) {
        guard !entries.isEmpty else { return }
        entries.removeAll { $0.confirmedBy.map { $0 <= packet } ?? false }
    }
}
