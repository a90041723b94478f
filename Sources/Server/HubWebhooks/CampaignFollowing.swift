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
        /// `nil` while it runs.
        var endedAt: Timestamp?
    }

    static let pause: Int64 = 60_000
    private static let patience: Int64 = 3_600_000
    /// Campaigns of a hub that are followed, at most; the newest.
    static let mostOfHub = 20

    private var campaigns: [Campaign: Told] = [:]
    private var nextAt: Timestamp?

    /// Whether a minute is over.
    func isDue(at now: Timestamp) -> Bool { nextAt.map { $0 <= now } ?? true }

    /// Begins a minute.
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

    /// The campaigns of a hub that are followed, with what was told of each.
    func followed(of hub: Int64) -> [(id: String, report: [JSONTree.Member]?)] {
        campaigns.filter { $0.key.hub == hub }.map { ($0.key.id, $0.value.report) }.sorted { $0.0 < $1.0 }
    }

    /// Notes what was told.
    ///
    /// - Parameter isEnd: Whether it was told with the campaign's end.
    mutating func note(_ report: [JSONTree.Member], of campaign: Campaign, isEnd: Bool, at now: Timestamp) {
        var told = campaigns[campaign] ?? Told()
        told.report = report
        if isEnd { told.endedAt = now }
        campaigns[campaign] = told
        let ended = campaigns.filter { $0.key.hub == campaign.hub }.compactMap { campaign, told in
            told.endedAt.map { (campaign, $0) }
        }
        guard ended.count > Self.mostOfHub, let oldest = ended.min(by: { $0.1 < $1.1 }) else { return }
        campaigns[oldest.0] = nil
    }
}
