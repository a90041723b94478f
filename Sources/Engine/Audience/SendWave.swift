import PushModel

/// A part of a campaign's audience whose turn comes at one instant.
package struct SendWave: Hashable, Sendable {
    /// The send's number.
    package var send: Int64
    /// When the turn comes; no two waves of a send have the same.
    package var dueAt: Timestamp
    /// When it was last looked who is to wait or is left out; `nil` before the turn.
    package var openedAt: Timestamp?

    /// Brings the parts together.
    package init(send: Int64, dueAt: Timestamp, openedAt: Timestamp?) {
        self.send = send
        self.dueAt = dueAt
        self.openedAt = openedAt
    }
}

/// Whom campaigns reached, or are going to reach: what was accepted for them, or waits.
package struct CampaignReach: Hashable, Sendable {
    /// Whom each of them reached.
    package var audiences: [Bitmap]
    /// The numbers of those of which something cannot be read: all who were meant count as reached.
    package var unreadable: [Int64]

    /// Brings the parts together.
    package init(audiences: [Bitmap], unreadable: [Int64] = []) {
        self.audiences = audiences
        self.unreadable = unreadable
    }
}

/// How a send is divided, to be noted in one transaction.
package struct WaveChange: Sendable {
    /// Who has a turn at which instant.
    package var waves: [Timestamp: Bitmap] = [:]
    /// Who is left out, and why.
    package var leftOut: [LeftOut: Bitmap] = [:]

    /// No change.
    package init() {}

    /// Gives some a turn: this server's own devices first, the others a millisecond later, so that a push service that is slow
    /// holds up none of the own.
    package mutating func add(_ part: Bitmap, at instant: Timestamp, _ own: Bitmap) {
        let first = part.intersection(own)
        add(first, at: instant)
        add(part.subtracting(first), at: first.isEmpty ? instant : instant.adding(milliseconds: 1))
    }

    private mutating func add(_ part: Bitmap, at instant: Timestamp) {
        guard !part.isEmpty else { return }
        waves[instant] = waves[instant].map { $0.union(part) } ?? part
    }

    /// Leaves some out.
    package mutating func leave(_ part: Bitmap, _ why: LeftOut) {
        if !part.isEmpty { leftOut[why] = leftOut[why].map { $0.union(part) } ?? part }
    }
}
