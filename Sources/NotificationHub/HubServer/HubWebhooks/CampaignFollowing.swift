import HubProtocol
import PushCore

/// The schedule of campaigns' reports to webhooks. A changed report is sent at most once a minute, while the campaign
/// runs and for an hour after its end.
struct CampaignFollowing {
    /// A campaign, by its hub and id.
    struct Campaign: Hashable {
        var hub: Int64
        var id: String
    }

    private struct Told {
        var report: [JSONValue.Member]?
        /// The time at which its report was last read; `nil` before.
        var askedAt: Timestamp?
        /// The time at which it ended; `nil` while it runs.
        var endedAt: Timestamp?
    }

    static let pause: Int64 = 60_000
    private static let timeout: Int64 = 3_600_000
    /// The maximum number of followed campaigns of a hub, the newest.
    static let mostOfHub = 20

    private var campaigns: [Campaign: Told] = [:]
    private var nextAt: Timestamp?

    /// Whether the running campaigns are to be read again: once a minute.
    func isDue(at now: Timestamp) -> Bool { nextAt.map { $0 <= now } ?? true }

    /// Updates the running campaigns.
    ///
    /// - Parameter running: The campaigns that run.
    mutating func begin(_ running: [Campaign], at now: Timestamp) {
        nextAt = now.adding(milliseconds: Self.pause)
        let running = Set(running)
        campaigns = campaigns.filter { campaign, told in
            running.contains(campaign) || told.endedAt.map { now.milliseconds(since: $0) < Self.timeout } ?? false
        }
        for campaign in running where campaigns[campaign] == nil { campaigns[campaign] = Told() }
    }

    /// The campaign of a hub whose report is to be read now, with the last report sent. One at a time, the longest
    /// waiting first, so that reports delay no events.
    mutating func next(of hub: Int64, at now: Timestamp) -> (id: String, report: [JSONValue.Member]?)? {
        let due = campaigns.filter { campaign, told in
            campaign.hub == hub && told.askedAt.map { now.milliseconds(since: $0) >= Self.pause } ?? true
        }
        let first = due.min { one, other in
            let (left, right) = (one.value.askedAt?.rawValue ?? .min, other.value.askedAt?.rawValue ?? .min)
            return left == right ? one.key.id < other.key.id : left < right
        }
        guard let (campaign, told) = first else { return nil }
        campaigns[campaign]?.askedAt = now
        return (campaign.id, told.report)
    }

    /// Records a report that was sent.
    ///
    /// - Parameter isEnd: Whether it was sent with the event of the campaign's end.
    mutating func recordReport(_ report: [JSONValue.Member], of campaign: Campaign, isEnd: Bool, at now: Timestamp) {
        var told = campaigns[campaign] ?? Told()
        (told.report, told.askedAt) = (report, now)
        if isEnd { told.endedAt = now }
        campaigns[campaign] = told
        let ended = campaigns.filter { $0.key.hub == campaign.hub }.compactMap { campaign, told in
            told.endedAt.map { (campaign, $0) }
        }
        guard ended.count > Self.mostOfHub, let oldest = ended.min(by: { $0.1 < $1.1 }) else { return }
        campaigns[oldest.0] = nil
    }
}
