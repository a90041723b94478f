import PushCore
import PushServer

extension MemoryStore: FeedbackStore {
    /// The ends that no provider has read, the oldest first.
    package func endedRegistrations(
        app: AppID, environment: PushEnvironment, limit: Int
    ) async throws -> [EndedRegistration] {
        state.withLock { state in
            state.register.ends.lazy.filter { $0.place.app == app && $0.place.environment == environment }
                .prefix(limit).map(\.end)
        }
    }

    /// Deletes the ends up to a number; nothing is durable.
    package func forgetEnds(app: AppID, environment: PushEnvironment, through number: Int64) async throws {
        state.withLock { $0.register.forgetEnds(app: app, environment: environment, through: number) }
    }
}
