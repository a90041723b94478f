import Logging
import Metrics
import Networking
import PushCore

/// Ends expired messages, and deletes those that ended a while ago.
package struct MessageUpkeep: Sendable {
    private let store: any AppMessageStore
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    /// The time for which a message is known after its end, so that it is not delivered twice: longer than any time to
    /// live.
    private let memory: Duration

    private static let slice = 500

    /// Creates the upkeep of a store.
    package init(
        store: any AppMessageStore, memory: Duration = .seconds(2 * 86_400), clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.store = store
        self.memory = memory
        self.clock = clock
        self.logger = logger
    }

    /// Performs the work that is due now, slice by slice.
    package func round() async {
        do {
            let now = clock()
            while true {
                let count = try await store.expireMessages(at: now, limit: Self.slice)
                if count > 0 { Counter(label: "aldaba_app_messages_expired_total").increment(by: count) }
                if count < Self.slice { break }
            }
            while try await store.forgetMessages(endedBefore: now - memory, limit: Self.slice) == Self.slice {}
        } catch {
            logger.error("messages from apps could not be swept", metadata: [LogKey.error: "\(error)"])
        }
    }
}
