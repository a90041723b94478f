import APNsProtocol
import AldabaConfiguration
import ControlAPI
import HubProtocol
import HubServer
import Logging
import Networking
import PushCore
import PushServer
import RelayProtocol
import RelayServer
import SQLiteStore
import Scheduling
import ServiceLifecycle

/// The notification hubs of a server, with their store and their addresses.
struct HubParts: Sendable {
    let database: HubDatabase
    let hubs: NotificationHubs
    let interface: HubInterface
    /// Sends the pushes of chat servers by the hubs.
    let chat: HubChatPushes
    let timelines: any TimelineService
    /// Connects to other push services and to webhooks.
    let http: GuardedHTTP

    init(_ core: ServerParts, _ configuration: ServerConfiguration, names: @escaping @Sendable () -> ServerNames) {
        http = GuardedHTTP(allowing: configuration.values.outboundNetworks)
        database = core.databases.hub
        let gateway = GatewaySender(
            acceptor: core.mailboxes, apps: core.apps, tokens: core.tokens, environment: configuration.environment)
        let apple = AppleSender(
            store: database, rule: AddressRule(allowing: configuration.values.outboundNetworks), gateway: gateway,
            isOwn: { [tokens = core.tokens] in DeviceToken(text: $0).map { tokens.sealer.open($0) != nil } ?? false },
            clock: core.clock, logger: core.logger)
        let fcm = FCMSender(store: database, http: http, clock: core.clock, logger: core.logger)
        let browsers = WebPushSender(store: database, http: http, clock: core.clock, logger: core.logger)
        hubs = NotificationHubs(
            store: database,
            senders: [.apns: apple, .aldaba: gateway, .fcmv1: fcm, .gcm: fcm, .browser: browsers],
            gateway: GatewayBroadcasts(
                core.broadcasts, sender: gateway, apps: core.apps, sealer: core.tokens.sealer,
                environment: configuration.environment, cell: ServerParts.cell, clock: core.clock),
            changed: core.hubLists.changed,
            // A pause waits for the copies that this server makes, and not for those of others.
            broadcastMinimum: configuration.values.text(.nats) == nil
                ? configuration.values.number(.hubBroadcastMinimum) : .max,
            clock: core.clock,
            zones: { LocalZones.shared.rules(named: $0) })
        if let name = configuration.values.text(.relayWakeHub) {
            core.relay.wakes(
                by: HubWaker(
                    hub: name, of: { [database] in try await database.hub(named: $0) },
                    senders: [.apns: apple, .fcm: fcm], clock: core.clock, sleep: { try await Task.sleep(for: $0) }))
        }
        chat = HubChatPushes(hubs: hubs, names: names)
        timelines = Timelines(store: core.store, mailboxes: core.mailboxes)
        interface = HubInterface(
            hubs: hubs, timelines: timelines, withdrawal: core.mailboxes,
            authentication: core.credentials, names: names, senderTime: core.senderTime,
            rates: HubWriteRates(
                proxies: configuration.values.addressRanges(.proxies),
                servers: { [mailboxes = core.mailboxes] in mailboxes.serverCount }))
    }
}

/// Runs the hubs' sends; ends after the listeners, and before mailboxes and store.
struct HubService: Service, CustomStringConvertible {
    let parts: HubParts
    let presence: HubPresence
    let lists: HubLists
    /// Wakes the sends that have become due; `nil` on a server that is not for development.
    let testClock: TestClock?
    /// The last answers of webhooks.
    let answers: WebhookAnswers
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    var description: String { "notification hubs" }

    func run() async throws {
        let health = parts.database.health
        do {
            for hub in try await parts.hubs.store.hubs() { try await parts.hubs.prepare(hub) }
        } catch {
            // Everything but the hubs goes on. A fault that is known has been told; a server of databases may answer again.
            if parts.database.isShared {
                logger.warning("the hubs' audiences are read later: \(error)")
            } else {
                health.recordFault(DatabaseFault(.hub, opening: health.path, error).kind)
            }
        }
        guard health.fault == nil else {
            try? await gracefulShutdown()
            return await parts.http.shutDown()
        }
        let credentials = CredentialWatch(store: parts.database, clock: clock, logger: logger)
        let runner = SendRunner(parts.hubs, logger: logger)
        runner.wakeUp()
        testClock?.follow(runner.wakeUp)
        let courier = HubWebhookDispatcher(
            store: parts.database,
            sender: RememberingWebhookSender(GuardedWebhookSender(parts.http), answers: answers, clock: clock),
            reports: { [parts] in try await parts.hubs.report($0, of: $1, by: parts.timelines).members },
            clock: clock,
            logger: logger)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await courier.run() }
                group.addTask { await credentials.run { try await Task.sleep(for: $0) } }
                group.addTask(executorPreference: CallerExecutor.background) {
                    await runner.run { try await Task.sleep(for: $0) }
                }
                group.addTask { await watchPresence() }
                await health.waitForFault()
                group.cancelAll()
            }
        }
        runner.stop()
        // Apps' webhooks are told over the same connections.
        try? await gracefulShutdown()
        await parts.http.shutDown()
    }

    /// Reports to the hubs, every few seconds, which devices were seen.
    private func watchPresence() async {
        while (try? await Task.sleep(for: .seconds(5))) != nil {
            do { while try await presence.reportSeenDevices(parts.hubs, lists) {} } catch {
                logger.warning(
                    "The hubs hear later which devices were seen.", metadata: [LogKey.error: "\(error)"])
            }
        }
    }
}
