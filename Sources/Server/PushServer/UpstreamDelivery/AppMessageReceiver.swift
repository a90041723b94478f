import Logging
import Metrics
import Networking
import PushCore
import Synchronization

/// Receives messages from apps on devices to their providers: the receiver of every category that is a registered app.
///
/// Messages that arrive during a transaction are stored together by the next one. They are stored in order, and are
/// durable before the device is notified.
package final class AppMessageReceiver: UpstreamReceiver {
    private static let failure = RepeatedMessage("messages from apps could not be stored")

    private struct Arrival: Sendable {
        var message: UpstreamMessage
        var device: DeviceID
        var complete: @Sendable (UpstreamOutcome) -> Void
    }

    private struct State {
        var arrivals: [Arrival] = []
        var isStoring = false
    }

    private let store: any AppMessageStore
    private let apps: AppDirectory
    private let arrivalSignal: MessageArrivalSignal
    private let rules: AppMessageRules
    private let limits: MessageLimits
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let state = Mutex(State())

    /// The maximum number of messages that wait to be stored. Each device has four at most, and is not read from
    /// meanwhile.
    private static let arrivalLimit = 16_384
    private static let batchLimit = 256

    /// Creates a receiver over a store; it signals `arrivalSignal` when it has stored messages.
    package init(
        store: any AppMessageStore, apps: AppDirectory, arrivalSignal: MessageArrivalSignal,
        rules: AppMessageRules = AppMessageRules(),
        limits: MessageLimits = MessageLimits(), clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.apps = apps
        self.arrivalSignal = arrivalSignal
        self.rules = rules
        self.limits = limits
        self.clock = clock
        self.logger = logger
    }

    /// Queues the message; completes after the commit of the transaction that stores it.
    package func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        let arrival = Arrival(message: message, device: session.device, complete: complete)
        let (isTaken, begins) = state.withLock { state in
            guard state.arrivals.count < Self.arrivalLimit else { return (false, false) }
            state.arrivals.append(arrival)
            defer { state.isStoring = true }
            return (true, !state.isStoring)
        }
        if !isTaken { return complete(.failed) }
        if begins { Task { await storeAll() } }
    }

    private func storeAll() async {
        while true {
            let batch: [Arrival] = state.withLock { state in
                let batch = Array(state.arrivals.prefix(Self.batchLimit))
                state.arrivals.removeFirst(batch.count)
                state.isStoring = !batch.isEmpty
                return batch
            }
            if batch.isEmpty { return }
            await store(batch)
        }
    }

    /// Stores a batch, and completes each of its messages once.
    private func store(_ batch: [Arrival]) async {
        var outcomes: [UpstreamOutcome?] = Array(repeating: nil, count: batch.count)
        var (messages, places): ([AppMessage], [Int]) = ([], [])
        let now = clock()
        do {
            for (place, arrival) in batch.enumerated() {
                switch try await read(arrival, at: now) {
                case .success(let message):
                    messages.append(message)
                    places.append(place)
                case .failure(let refused): outcomes[place] = .refused(refused.refusal)
                }
            }
            let keepings = messages.isEmpty ? [] : try await store.save(messages, limits: limits, at: now)
            for (place, keeping) in zip(places, keepings) { outcomes[place] = Self.outcome(of: keeping) }
            arrivalSignal.send()
        } catch {
            Self.failure.log(error, to: logger)
        }
        for (arrival, outcome) in zip(batch, outcomes) {
            Self.count(outcome)
            arrival.complete(outcome ?? .failed)
        }
    }

    private func read(_ arrival: Arrival, at now: Timestamp) async throws -> Result<AppMessage, AppMessageRejection> {
        let category = arrival.message.category
        guard let app = try await apps.find(Topic(rawValue: category)) else {
            return .failure(AppMessageRejection(404, "nobody serves the category \"\(category.prefix(100))\""))
        }
        return Result { () throws(AppMessageRejection) in
            try rules.read(arrival.message, from: arrival.device, to: app, at: now)
        }
    }

    private static func outcome(of keeping: MessageInsertion) -> UpstreamOutcome {
        switch keeping {
        case .kept, .known: .durable()
        case .notRegistered:
            .refused(
                UpstreamRejection(code: 404, reason: "the app is not registered on this device; register it first"))
        case .full:
            .refused(
                UpstreamRejection(code: 429, reason: "too many messages wait for the app's provider; send it later"))
        }
    }

    /// Counts by outcome, of a closed set.
    private static func count(_ outcome: UpstreamOutcome?) {
        let name =
            switch outcome {
            case .durable: "stored"
            case .refused: "refused"
            case .violation, .failed, nil: "failed"
            }
        Counter(label: "aldaba_app_messages_total", dimensions: [("outcome", name)]).increment()
    }
}
