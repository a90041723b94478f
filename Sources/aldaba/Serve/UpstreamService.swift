import AldabaConfiguration
import Logging
import Networking
import PushCore
import PushServer
import SQLiteStore
import ServiceLifecycle

/// The components by which a server delivers apps' messages to their providers.
struct UpstreamParts: Sendable {
    let receiver: AppMessageReceiver
    let feed: MessageFeed
    let courier: WebhookDispatcher

    init(_ core: ServerParts, _ http: GuardedHTTP) {
        let arrivalSignal = core.mailboxes.arrivals
        receiver = AppMessageReceiver(
            store: core.store, apps: core.apps, arrivalSignal: arrivalSignal, clock: core.clock, logger: core.logger)
        feed = MessageFeed(
            store: core.store, apps: core.apps, sealer: core.tokens.sealer, cell: ServerParts.cell,
            arrivalSignal: arrivalSignal,
            clock: core.clock)
        courier = WebhookDispatcher(
            store: core.store, register: core.store.register, sealer: core.tokens.sealer, cell: ServerParts.cell,
            arrivalSignal: arrivalSignal,
            sender: RememberingWebhookSender(
                GuardedWebhookSender(http), answers: core.webhookAnswers, clock: core.clock),
            isOnDuty: { core.mailboxes.hasDuties }, clock: core.clock,
            logger: core.logger)
    }
}

/// Brings messages to webhooks, and ends every few seconds those whose time has passed.
struct UpstreamService: Service, CustomStringConvertible {
    let parts: ServerParts
    let courier: WebhookDispatcher
    var description: String { "messages from apps" }

    func run() async throws {
        let upkeep = MessageUpkeep(store: parts.store, clock: parts.clock, logger: parts.logger)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await courier.run() }
                group.addTask {
                    while (try? await Task.sleep(for: .seconds(5))) != nil {
                        if parts.mailboxes.hasDuties { await upkeep.round() }
                    }
                }
            }
        }
    }
}

extension ConfigurationValues {
    /// The private addresses that the server may connect to; with development this machine's own are among them.
    var outboundNetworks: [AddressRange] {
        let own = flag(.development) ? ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) } : []
        return addressRanges(.webhookNetworks) + own
    }
}
