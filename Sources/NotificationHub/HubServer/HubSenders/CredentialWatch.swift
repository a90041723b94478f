import Logging
import PushCore

/// Warns of hubs' credentials that have expired or expire soon: at the start, and then once a day.
package struct CredentialWatch: Sendable {
    private let store: any HubStore
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    /// Creates a watch over the credentials of a store.
    package init(store: any HubStore, clock: @escaping @Sendable () -> Timestamp, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Runs until the task is cancelled.
    ///
    /// - Parameter sleep: Waits for a duration, and throws when cancelled.
    package func run(sleep: @Sendable (Duration) async throws -> Void) async {
        repeat {
            do { try await warn() } catch {
                if !Task.isCancelled { logger.error("it is not known which of the hubs' credentials end: \(error)") }
            }
        } while (try? await sleep(.seconds(86_400))) != nil
    }

    private func warn() async throws {
        for hub in try await store.hubs() {
            for credential in try await store.credentials(of: hub.number) {
                guard let words = credential.warning(at: clock()) else { continue }
                logger.warning("hub \(hub.name): \(words); `aldaba hub credential add` takes its successor")
            }
        }
    }
}
