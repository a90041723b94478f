import APNsProtocol
import Logging
import Metrics
import Networking
import PushCore

/// Brings the messages of apps that have a webhook to it, each app's beside the others', one request of each at a time.
package struct WebhookDispatcher: Sendable {
    private let store: any AppMessageStore
    private let register: any RegisterStore
    private let sealer: DeviceTokenSealer
    private let cell: UInt16
    private let arrivalSignal: MessageArrivalSignal
    private let sender: any WebhookSender
    /// Whether this server sends to webhooks; of several nodes one does.
    private let isOnDuty: @Sendable () -> Bool
    private let limiter: WebhookLimiter
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    private static let pageLimit = 100
    private static let unreadMessages = RepeatedMessage("messages for a webhook could not be read")

    /// Creates an instance from its properties.
    package init(
        store: any AppMessageStore, register: any RegisterStore, sealer: DeviceTokenSealer, cell: UInt16,
        arrivalSignal: MessageArrivalSignal, sender: any WebhookSender,
        isOnDuty: @escaping @Sendable () -> Bool = { true }, clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.store = store
        self.register = register
        self.sealer = sealer
        self.cell = cell
        self.arrivalSignal = arrivalSignal
        self.sender = sender
        self.isOnDuty = isOnDuty
        limiter = WebhookLimiter(clock: clock)
        self.clock = clock
        self.logger = logger
    }

    /// Runs until the task is cancelled; checks each second whether webhooks were set or removed.
    package func run() async {
        var served: [Webhook: Task<Void, Never>] = [:]
        var version: UInt64?
        while !Task.isCancelled {
            let present = isOnDuty() ? register.registerVersion : nil
            // Webhooks that cannot be read now are read in a second.
            if version != present, let webhooks = present == nil ? [] : try? await store.webhooks() {
                version = present
                for (webhook, task) in served where !webhooks.contains(webhook) {
                    task.cancel()
                    served[webhook] = nil
                }
                for webhook in webhooks where served[webhook] == nil {
                    served[webhook] = Task { await serve(webhook) }
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        for task in served.values { task.cancel() }
        for task in served.values { await task.value }
    }

    /// Delivers to one webhook until the task is cancelled.
    func serve(_ webhook: Webhook) async {
        guard let address = try? WebhookAddress(webhook.url) else {
            return logger.error(
                "a webhook's address cannot be read; set it again", metadata: [LogKey.address: "\(webhook.url)"])
        }
        var schedule = WebhookSchedule()
        let signals = arrivalSignal.listen()
        var heard = signals.makeAsyncIterator()
        while !Task.isCancelled {
            do {
                if let next = try await next(webhook, &schedule) {
                    let outcome = await deliver(next, webhook: webhook, address: address)
                    if outcome == .taken { _ = try await store.takeMessage(next.number, at: clock()) }
                    schedule.recordOutcome(outcome, of: next, at: clock(), spread: .random(in: 0...1))
                    continue
                }
            } catch {
                Self.unreadMessages.log(error, to: logger)
                try? await Task.sleep(for: .seconds(1))
                continue
            }
            if let rest = schedule.rest(at: clock()) {
                try? await Task.sleep(for: min(rest, .seconds(5)))
            } else if await heard.next(isolation: nil) == nil {
                return
            }
        }
    }

    /// The next message that may be sent now.
    private func next(_ webhook: Webhook, _ schedule: inout WebhookSchedule) async throws -> WaitingMessage? {
        guard schedule.endpointRestsUntil <= clock() else { return nil }
        var (cursor, waiting): (Int64, Set<DeviceID>) = (0, [])
        while true {
            let page = try await store.waitingMessages(
                MessageScope(app: webhook.app), after: cursor, limit: Self.pageLimit, at: clock())
            if let next = schedule.next(of: page, at: clock()) { return next }
            waiting.formUnion(page.map(\.message.device))
            guard page.count == Self.pageLimit, let last = page.last else { break }
            cursor = last.number
        }
        schedule.keep(only: waiting)
        return nil
    }

    private func deliver(
        _ waiting: WaitingMessage, webhook: Webhook, address: WebhookAddress
    ) async -> WebhookSchedule.Outcome {
        var outcome = WebhookSchedule.Outcome.failed
        do {
            let body = try MessageBody(waiting, sealer: sealer, cell: cell).json()
            let signature = WebhookSignature.value(secret: webhook.secret, body: body, at: clock())
            let status = try await limiter.run(of: waiting.message.team, .app(webhook.app)) {
                try await sender.send(body, signature: signature, to: address)
            }
            outcome = Self.outcome(of: status)
            if outcome != .taken { log("a webhook answered \(status)", waiting) }
        } catch {
            log("a webhook could not be reached: \(error)", waiting)
        }
        Counter(label: "aldaba_webhook_requests_total", dimensions: [("outcome", Self.name(of: outcome))]).increment()
        return outcome
    }

    private func log(_ words: String, _ waiting: WaitingMessage) {
        logger.warning("\(words)", metadata: [LogKey.topic: "\(waiting.topic)"])
    }

    /// A status 4xx concerns the message, except for those that mean "later".
    static func outcome(of status: Int) -> WebhookSchedule.Outcome {
        switch status {
        case 200..<300: .taken
        case 408, 425, 429: .failed
        case 400..<500: .refused
        default: .failed
        }
    }

    private static func name(of outcome: WebhookSchedule.Outcome) -> String {
        switch outcome {
        case .taken: "taken"
        case .refused: "refused"
        case .failed: "failed"
        }
    }
}
