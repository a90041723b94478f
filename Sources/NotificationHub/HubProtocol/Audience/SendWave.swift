import PushCore

/// A part of a campaign's audience that is due at one instant.
package struct SendWave: Hashable, Sendable {
    /// The send's number.
    package var send: Int64
    /// The instant at which the part is due; no two waves of a send have the same.
    package var dueAt: Timestamp
    /// The time of the last check which installations are to wait or are left out; `nil` before the wave is due.
    package var openedAt: Timestamp?

    /// Creates an instance from its properties.
    package init(send: Int64, dueAt: Timestamp, openedAt: Timestamp?) {
        self.send = send
        self.dueAt = dueAt
        self.openedAt = openedAt
    }
}

/// The installations that campaigns reached or are going to reach: their notification was accepted, or is queued.
package struct CampaignReach: Hashable, Sendable {
    /// The reached installations of each campaign.
    package var audiences: [Bitmap]
    /// The numbers of campaigns whose data cannot be read: all their targets count as reached.
    package var unreadable: [Int64]

    /// Creates an instance from its properties.
    package init(audiences: [Bitmap], unreadable: [Int64] = []) {
        self.audiences = audiences
        self.unreadable = unreadable
    }
}

/// How a send is divided, to be noted in one transaction.
package struct WaveChange: Sendable {
    /// The installations that are due at each instant.
    package var waves: [Timestamp: Bitmap] = [:]
    /// The installations that are left out, by reason.
    package var excluded: [ExclusionReason: Bitmap] = [:]

    /// No change.
    package init() {}

    /// Schedules installations: this server's own devices first, the others a millisecond later. So a slow push service
    /// does not delay the own devices.
    package mutating func add(_ part: Bitmap, at instant: Timestamp, _ own: Bitmap) {
        let first = part.intersection(own)
        add(first, at: instant)
        add(part.subtracting(first), at: first.isEmpty ? instant : instant.adding(milliseconds: 1))
    }

    private mutating func add(_ part: Bitmap, at instant: Timestamp) {
        guard !part.isEmpty else { return }
        waves[instant] = waves[instant].map { $0.union(part) } ?? part
    }

    /// Excludes installations from the send, for a reason.
    package mutating func exclude(_ part: Bitmap, reason: ExclusionReason) {
        if !part.isEmpty { excluded[reason] = excluded[reason].map { $0.union(part) } ?? part }
    }
}
