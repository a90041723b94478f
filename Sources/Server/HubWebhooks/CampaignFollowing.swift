import HubWire
import PushModel

/// Of which campaigns webhooks are told the numbers, and when: each at most once a minute, while it runs and for an hour
/// after its end, where they are others than before.
struct CampaignFollowing {
    /// A campaign by the id that its hub knows.
    struct Campaign: Hashable {
        var hub: Int64
        var id: String
    }

    private struct Told {
        var report: [JSONTree.Member]?
        /// When its report was last asked for; `nil` before.
        var askedAt: Timestamp?
        /// `nil` while it runs.
        var endedAt: Timestamp?
    }

    static let pause: Int64 = 60_000
    private static let patience: Int64 = 3_600_000
    /// Campaigns of a hub that are followed, at most; the newest.
    static let mostOfHub = 20

    private var campaigns: [Campaign: Told] = [:]
    private var nextAt: Timestamp?

    /// Whether it is to be looked which campaigns run: once a minute.
    func isDue(at now: Timestamp) -> Bool { nextAt.map { $0 <= now } ?? true }

    /// Takes in which campaigns run.
    ///
    /// - Parameter running: The campaigns that run.
    mutating func begin(_ running: [Campaign], at now: Timestamp) {
        nextAt = now.adding(milliseconds: Self.pause)
        let running = Set(running)
        campaigns = campaigns.filter { campaign, told in
            running.contains(campaign) || told.endedAt.map { now.milliseconds(since: $0) < Self.patience } ?? false
        }
        for campaign in running where campaigns[campaign] == nil { campaigns[campaign] = Told() }
    }

    /// The campaign of a hub whose report is to be asked for now, with what was told of it: one at a time, who waits longest
    /// first, so that reports hold up no events.
    mutating func next(of hub: Int64, at now: Timestamp) -> (id: String, report: [JSONTree.Member]?)? {
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

    /// Notes what was told.
    ///
    /// - Parameter isEnd: Whether it was told with the campaign's end.
    mutating func note(_ report: [JSONTree.Member], of campaign: Campaign, isEnd: Bool, at now: Timestamp) {
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
