import Hub
import HubWire
import Logging
import PushModel
import UpstreamDelivery

/// Sends hubs' events to their webhooks.
package actor HubWebhookCourier {
    private struct Pause {
        var failures = 0
        var until = Timestamp(rawValue: .min)
    }

    /// The members of a send's report as it is now.
    package typealias Reports = @Sendable (_ send: String, _ hub: HubRecord) async throws -> [JSONTree.Member]

    /// What came of serving a webhook.
    private struct Served {
        var hub: Int64
        /// Whether the receiver took everything.
        var tookEverything = true
        /// The numbers that were told, by their campaigns' ids.
        var told: [(id: String, report: [JSONTree.Member], isEnd: Bool)] = []
    }

    private let store: any HubStore
    private let sender: any WebhookSender
    private let reports: Reports
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private var pauses: [Int64: Pause] = [:]
    private var following = CampaignFollowing()
    private static let pageLimit = 100

    /// Brings the parts together.
    package init(
        store: any HubStore, sender: any WebhookSender, reports: @escaping Reports,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.sender = sender
        self.reports = reports
        self.clock = clock
        self.logger = logger
    }

    /// Looks once a second whether there is something to tell, until the task is cancelled.
    package func run() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            do { try await round() } catch {
                if !Task.isCancelled { logger.error("the hubs' events could not be read: \(error)") }
            }
        }
    }

    /// Sends what waits to every webhook that is not left alone, each beside the others.
    package func round() async throws {
        let webhooks = try await store.webhooks()
        pauses = pauses.filter { pause in webhooks.contains { $0.hub == pause.key } }
        let now = clock()
        let due = webhooks.filter { pauses[$0.hub].map { $0.until <= now } ?? true }
        guard !due.isEmpty else { return }
        let hubs = Dictionary(try await store.hubs().map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        if following.isDue(at: now) {
            let running = try await store.runningCampaigns(
                begunBefore: now.adding(milliseconds: -CampaignFollowing.pause), limit: CampaignFollowing.mostOfHub)
            following.begin(running.map { .init(hub: $0.hub, id: $0.id) }, at: now)
        }
        let outcomes = await withTaskGroup(of: Served.self, returning: [Served].self) { group in
            for webhook in due {
                guard let hub = hubs[webhook.hub] else { continue }
                let campaign = following.next(of: hub.number, at: now)
                group.addTask { [self] in await serve(webhook, hub, campaign) }
            }
            var outcomes: [Served] = []
            for await served in group { outcomes.append(served) }
            return outcomes
        }
        for served in outcomes {
            for (id, report, isEnd) in served.told {
                following.note(report, of: .init(hub: served.hub, id: id), isEnd: isEnd, at: now)
            }
            let hub = served.hub
            guard !served.tookEverything else {
                pauses[hub] = nil
                continue
            }
            var pause = pauses[hub] ?? Pause()
            pause.failures += 1
            pause.until = clock().adding(milliseconds: RetryRule.pause(after: pause.failures))
            pauses[hub] = pause
        }
    }

    /// Sends a hub's events in their order, and then the numbers of a campaign where they are others than before.
    private nonisolated func serve(
        _ webhook: HubWebhook, _ hub: HubRecord, _ campaign: (id: String, report: [JSONTree.Member]?)?
    ) async -> Served {
        var served = Served(hub: hub.number)
        do {
            let address = try address(of: webhook)
            let events = try await store.events(of: webhook.hub, limit: Self.pageLimit)
            for var event in events {
                // One report a round: all hubs' events wait for the slowest.
                if Self.isEndOfCampaign(event), !served.told.isEmpty { return served }
                let ended = try await report(of: event, hub)
                for member in ended?.1 ?? [] { event.data.set(member.name, member.value) }
                try await tell(event, webhook, hub, address)
                try await store.endEvent(event.number)
                if let (id, report) = ended { served.told.append((id, report, true)) }
            }
            // Behind a page there may be its end.
            guard events.count < Self.pageLimit, let campaign, served.told.isEmpty,
                let report = try await report(campaign.id, hub), report != campaign.report
            else { return served }
            let data = JSONTree.object([.init("send", .string(campaign.id))] + report)
            try await tell(
                HubEvent(number: 0, hub: hub.number, kind: .campaignReport, data: data, at: clock()), webhook, hub,
                address)
            served.told.append((campaign.id, report, false))
        } catch {
            logger.warning("the webhook of the hub \(hub.name) could not be told: \(error)")
            served.tookEverything = !(error is Untold)
        }
        return served
    }

    /// The receiver did not take an event: it is left alone for a while.
    private struct Untold: Error, CustomStringConvertible {
        var description: String
    }

    private nonisolated func address(of webhook: HubWebhook) throws -> WebhookAddress {
        do { return try WebhookAddress(webhook.url) } catch { throw Untold(description: "\(error)") }
    }

    private nonisolated func tell(
        _ event: HubEvent, _ webhook: HubWebhook, _ hub: HubRecord, _ address: WebhookAddress
    ) async throws {
        let body = event.body(hub: hub.name)
        let signature = WebhookSignature.value(secret: webhook.secret, body: body, at: clock())
        let status: Int
        do { status = try await sender.send(body, signature: signature, to: address) } catch {
            throw Untold(description: "\(error)")
        }
        guard (200..<300).contains(status) else { throw Untold(description: "it answered \(status)") }
    }

    /// The report of a campaign whose end an event tells.
    private nonisolated func report(of event: HubEvent, _ hub: HubRecord) async throws -> (String, [JSONTree.Member])? {
        guard Self.isEndOfCampaign(event), let id = event.data["send"]?.text, let report = try await report(id, hub)
        else { return nil }
        return (id, report)
    }

    private static func isEndOfCampaign(_ event: HubEvent) -> Bool {
        event.kind == .sendEnded && event.data["campaign"]?.text != nil
    }

    /// The report of a campaign; `nil` where the campaign is gone, or cannot be read: its end is told without numbers then.
    private nonisolated func report(_ id: String, _ hub: HubRecord) async throws -> [JSONTree.Member]? {
        do { return try await reports(id, hub) } catch HubFault.missing { return nil } catch {
            try Task.checkCancellation()
            logger.error("the webhook of the hub \(hub.name) is told nothing of the numbers of \(id): \(error)")
            return nil
        }
    }
}
