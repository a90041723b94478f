import Hub
import Logging
import PushModel
import UpstreamDelivery

/// Sends hubs' events to their webhooks.
package actor HubWebhookCourier {
    private struct Pause {
        var failures = 0
        var until = Timestamp(rawValue: .min)
    }

    private let store: any HubStore
    private let sender: any WebhookSender
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private var pauses: [Int64: Pause] = [:]
    private static let pageLimit = 100

    /// Brings the parts together.
    package init(
        store: any HubStore, sender: any WebhookSender, clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.sender = sender
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
        let names = Dictionary(try await store.hubs().map { ($0.number, $0.name) }, uniquingKeysWith: { $1 })
        let outcomes = await withTaskGroup(of: (Int64, Bool).self, returning: [Int64: Bool].self) { group in
            for webhook in due {
                group.addTask { [self] in (webhook.hub, await serve(webhook, names[webhook.hub] ?? "")) }
            }
            var outcomes: [Int64: Bool] = [:]
            for await (hub, isWell) in group { outcomes[hub] = isWell }
            return outcomes
        }
        for (hub, isWell) in outcomes {
            guard !isWell else {
                pauses[hub] = nil
                continue
            }
            var pause = pauses[hub] ?? Pause()
            pause.failures += 1
            pause.until = clock().adding(milliseconds: RetryRule.pause(after: pause.failures))
            pauses[hub] = pause
        }
    }

    /// Sends a hub's events in their order; whether none failed.
    private nonisolated func serve(_ webhook: HubWebhook, _ name: String) async -> Bool {
        guard let address = try? WebhookAddress(webhook.url) else { return false }
        do {
            for event in try await store.events(of: webhook.hub, limit: Self.pageLimit) {
                let body = event.body(hub: name)
                let signature = WebhookSignature.value(secret: webhook.secret, body: body, at: clock())
                let status = try await sender.send(body, signature: signature, to: address)
                guard (200..<300).contains(status) else {
                    logger.warning("the webhook of the hub \(name) answered \(status)")
                    return false
                }
                try await store.endEvent(event.number)
            }
            return true
        } catch {
            logger.warning("the webhook of the hub \(name) could not be told: \(error)")
            return false
        }
    }
}
