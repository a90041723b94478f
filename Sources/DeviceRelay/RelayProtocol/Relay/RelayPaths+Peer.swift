import Foundation

extension RelayPaths {
    /// The state of the paths to one device.
    struct Peer {
        /// The connection that can be used.
        var connection: UUID?
        /// Whether what is sent goes over it.
        var isReady = false
        /// The connection that broke, while the other device's count is not known; until when that is waited for.
        var ending: (connection: UUID, until: Int64)?
        /// How many numbers were given, and which messages under them are without an answer.
        var sent: Int64 = 0
        var unanswered: ArraySlice<(number: Int64, route: RelayRoute?)> = []
        /// The messages that are held until the other device's count arrives, or until that device is ready.
        var held: [RelayRoute] = []
        var bytes = 0
        /// How many numbers have come.
        var received: Int64 = 0
        /// When the connection was announced by the server.
        var begunAt: Int64 = 0
        /// When the other device gave a sign of itself.
        var heardAt: Int64 = 0
        /// When the oldest that is without an answer was sent.
        var askedAt: Int64 = 0
        /// The connection that the other device has announced by the server.
        var announced: UUID?

        var count: Int { unanswered.count + held.count }
    }
}

extension RelayPaths.Peer {
    /// Resets the outgoing state, so that messages are counted from 1 again.
    mutating func begin() {
        sent = 0
        unanswered = []
        held = []
        bytes = 0
    }

    /// Gives a message, or a probe, its number.
    mutating func next(_ route: RelayRoute?, at now: Int64) -> Int64 {
        if unanswered.isEmpty { askedAt = now }
        sent += 1
        unanswered.append((sent, route))
        return sent
    }

    mutating func answered(upTo number: Int64) {
        while let first = unanswered.first, first.number <= number {
            unanswered.removeFirst()
            bytes -= first.route?.body.count ?? 0
        }
    }

    /// When the connection counts as broken, unless the other device gives a sign.
    var breaksAt: Int64? {
        guard isReady else { return ending == nil ? begunAt + RelayPaths.readyTimeout : nil }
        return unanswered.isEmpty ? nil : max(askedAt, heardAt) + RelayPaths.timeout
    }

    /// When there is something to do next.
    var moment: Int64? {
        if connection == nil { return ending?.until }
        let own = breaksAt ?? (isReady ? heardAt + RelayPaths.quiet : nil)
        return [own, ending?.until].compactMap { $0 }.min()
    }
}
