import HubProtocol
import Logging
import Metrics
import PushCore
import PushServer

/// Sends hubs' events to their webhooks.
package actor HubWebhookDispatcher {
    private struct Pause {
        var failures = 0
        var until = Timestamp(rawValue: .min)
    }

    /// Reads the members of a send's present report.
    package typealias Reports = @Sendable (_ send: String, _ hub: HubRecord) async throws -> [JSONValue.Member]

    /// A webhook whose events are to be sent now.
    private struct Call {
        var webhook: HubWebhook
        var hub: HubRecord
        /// The campaign whose numbers are to be told, with what was told of it.
        var campaign: (id: String, report: [JSONValue.Member]?)?
    }

    /// The outcome of a call.
    private struct Served {
        /// Whether the receiver took everything.
        var tookEverything = true
        /// The reports that were sent, with their campaigns' ids.
        var told: [(id: String, report: [JSONValue.Member], isEnd: Bool)] = []
    }

    private let store: any HubStore
    private let sender: any WebhookSender
    private let reports: Reports
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let limiter: WebhookLimiter
    /// The hubs whose webhooks are being told.
    private var underWay: Set<Int64> = []
    private var sweptAt: Timestamp?
    private var pauses: [Int64: Pause] = [:]
    private var following = CampaignFollowing()
    private static let pageLimit = 100

    /// Creates an instance from its properties.
    package init(
        store: any HubStore, sender: any WebhookSender, reports: @escaping Reports,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.sender = sender
        self.reports = reports
        self.clock = clock
        self.logger = logger
        limiter = WebhookLimiter(clock: clock)
    }

    /// Looks once a second whether there is something to tell, until the task is cancelled. Each hub's webhook is told by itself: one
    /// that does not answer holds up no other.
    package func run() async {
        await withDiscardingTaskGroup { group in
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                do {
                    for call in try await calls() { group.addTask { [self] in await make(call) } }
                    try await sweep()
                } catch {
                    if !Task.isCancelled { logger.error("the hubs' events could not be read: \(error)") }
                }
            }
            group.cancelAll()
        }
    }

    /// Tells every webhook that is neither left alone nor being told, and waits for those alone.
    package func round() async throws {
        let calls = try await calls()
        await withDiscardingTaskGroup { group in
            for call in calls { group.addTask { [self] in await make(call) } }
        }
    }

    /// The webhooks that are to be told now. They count as being told from now on.
    private func calls() async throws -> [Call] {
        let webhooks = try await store.webhooks()
        pauses = pauses.filter { pause in webhooks.contains { $0.hub == pause.key } }
        let now = clock()
        let due = webhooks.filter { webhook in
            !underWay.contains(webhook.hub) && pauses[webhook.hub].map { $0.until <= now } ?? true
        }
        guard !due.isEmpty else { return [] }
        let hubs = Dictionary(try await store.hubs().map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        if following.isDue(at: now) {
            let running = try await store.runningCampaigns(
                begunBefore: now.adding(milliseconds: -CampaignFollowing.pause), limit: CampaignFollowing.mostOfHub)
            following.begin(running.map { .init(hub: $0.hub, id: $0.id) }, at: now)
        }
        var calls: [Call] = []
        for webhook in due {
            // One server tells a hub's webhook, and goes on to do so until it ends.
            guard let hub = hubs[webhook.hub], await isOwn(hub), underWay.insert(hub.number).inserted else { continue }
            calls.append(Call(webhook: webhook, hub: hub, campaign: following.next(of: hub.number, at: now)))
        }
        return calls
    }

    /// Whether this server tells a hub's webhook. Where that cannot be asked, it is asked again a second later.
    private func isOwn(_ hub: HubRecord) async -> Bool {
        do { return try await store.claim(SQLClaim(.webhook, hub.number)) } catch {
            logger.warning("the webhook of the hub \(hub.name) is told later: \(error)")
            return false
        }
    }

    /// Tells a webhook, and notes how it took it.
    private func make(_ call: Call) async {
        let served = await serve(call.webhook, of: call.hub, campaign: call.campaign)
        let (hub, now) = (call.hub.number, clock())
        underWay.remove(hub)
        for (id, report, isEnd) in served.told {
            following.recordReport(report, of: .init(hub: hub, id: id), isEnd: isEnd, at: now)
        }
        guard !served.tookEverything else {
            pauses[hub] = nil
            return
        }
        var pause = pauses[hub] ?? Pause()
        pause.failures += 1
        pause.until = now.adding(milliseconds: RetryRule.pause(after: pause.failures))
        pauses[hub] = pause
    }

    /// How often it is looked for events that nobody took in time, in milliseconds.
    private static let sweepPeriod: Int64 = 60_000

    /// Deletes events that nobody took in time, and those beyond the number that is kept, once a minute.
    private func sweep() async throws {
        let now = clock()
        guard sweptAt.map({ now.milliseconds(since: $0) >= Self.sweepPeriod }) ?? true else { return }
        sweptAt = now
        let lost = try await store.deleteEvents(
            before: now.adding(milliseconds: -HubEvent.lifetime), most: HubEvent.most)
        for (reason, count) in [("expired", lost.expired), ("full", lost.full)] where count > 0 {
            Counter(label: "aldaba_hub_events_dropped_total", dimensions: [("reason", reason)]).increment(by: count)
            logger.warning("\(count) events of hubs were dropped that their webhooks did not take: \(reason)")
        }
    }

    /// Sends a hub's events in their order, and then a campaign's report if it has changed.
    private nonisolated func serve(
        _ webhook: HubWebhook, of hub: HubRecord, campaign: (id: String, report: [JSONValue.Member]?)?
    ) async -> Served {
        var served = Served()
        do {
            let address = try address(of: webhook)
            let events = try await store.events(of: webhook.hub, limit: Self.pageLimit)
            for var event in events {
                // One report a call: a report takes the store's time.
                if Self.isEndOfCampaign(event), !served.told.isEmpty { return served }
                let ended = try await endReport(of: event, in: hub)
                for member in ended?.1 ?? [] { event.data.set(member.name, member.value) }
                try await post(event, webhook: webhook, hub: hub, address: address)
                try await store.endEvent(event.number)
                if let (id, report) = ended { served.told.append((id, report, true)) }
            }
            // The next page may contain the campaign's end.
            guard events.count < Self.pageLimit, let campaign, served.told.isEmpty,
                let report = try await report(campaign.id, hub), report != campaign.report
            else { return served }
            let data = JSONValue.object([.init("send", .string(campaign.id))] + report)
            try await post(
                HubEvent(number: 0, hub: hub.number, kind: .campaignReport, data: data, at: clock()), webhook: webhook,
                hub: hub,
                address: address)
            served.told.append((campaign.id, report, false))
        } catch {
            logger.warning("the webhook of the hub \(hub.name) could not be told: \(error)")
            served.tookEverything = !(error is Untold)
        }
        return served
    }

    /// An error: the receiver refused an event, and is paused for a while.
    private struct Untold: Error, CustomStringConvertible {
        var description: String
    }

    private nonisolated func address(of webhook: HubWebhook) throws -> WebhookAddress {
        do { return try WebhookAddress(webhook.url) } catch { throw Untold(description: "\(error)") }
    }

    private nonisolated func post(
        _ event: HubEvent, webhook: HubWebhook, hub: HubRecord, address: WebhookAddress
    ) async throws {
        let body = event.body(hub: hub.name)
        let signature = WebhookSignature.value(secret: webhook.secret, body: body, at: clock())
        let status: Int
        do {
            status = try await limiter.run(of: hub.team, .hub(hub.number)) {
                try await sender.send(body, signature: signature, to: address)
            }
        } catch {
            Self.count("failed")
            throw Untold(description: "\(error)")
        }
        let isTaken = (200..<300).contains(status)
        Self.count(isTaken ? "taken" : "failed")
        guard isTaken else { throw Untold(description: "it answered \(status)") }
    }

    private static func count(_ outcome: String) {
        Counter(label: "aldaba_hub_webhook_requests_total", dimensions: [("outcome", outcome)]).increment()
    }

    /// The report of the campaign whose end an event reports.
    private nonisolated func endReport(of event: HubEvent, in hub: HubRecord) async throws -> (
        String, [JSONValue.Member]
    )? {
        guard Self.isEndOfCampaign(event), let id = event.data["send"]?.text, let report = try await report(id, hub)
        else { return nil }
        return (id, report)
    }

    private static func isEndOfCampaign(_ event: HubEvent) -> Bool {
        event.kind == .sendEnded && event.data["campaign"]?.text != nil
    }

    /// The report of a campaign; `nil` where the campaign is gone, or cannot be read: its end is then reported without
    /// numbers.
    private nonisolated func report(_ id: String, _ hub: HubRecord) async throws -> [JSONValue.Member]? {
        do { return try await reports(id, hub) } catch HubError.missing { return nil } catch {
            try Task.checkCancellation()
            logger.error("the webhook of the hub \(hub.name) is told nothing of the numbers of \(id): \(error)")
            return nil
        }
    }
}
