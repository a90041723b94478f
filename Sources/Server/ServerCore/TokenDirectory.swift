import APNsWire
import PushModel
import Synchronization

/// What device tokens stand for and whether they are still active, from a bounded cache before the store.
///
/// Thread-safe. A token that no key opens is refused without any look-up.
public final class TokenDirectory: Sendable {
    /// What a token is worth.
    public enum Resolution: Hashable, Sendable {
        case active(TokenSubject)
        /// It was active once; the instant when it ended, as far as that is known.
        case ended(Timestamp)
        /// No key opens it, or its registration never was.
        case bad
        /// Ask with ``find(_:)``.
        case notAskedYet
    }

    private struct State {
        var resolutions: GenerationCache<DeviceToken, Resolution>
        /// Grows with every change of a registration, so that an answer read before it is not kept.
        var changes = 0
    }

    private let store: any RegisterStore
    public let sealer: DeviceTokenSealer
    private let state: Mutex<State>

    /// - Parameter capacity: Tokens that are remembered, up to twice as many; about 150 bytes each.
    public init(store: any RegisterStore, sealer: DeviceTokenSealer, capacity: Int = 200_000) {
        self.store = store
        self.sealer = sealer
        state = Mutex(State(resolutions: GenerationCache(capacity: capacity)))
    }

    /// Answers from memory.
    public func known(_ token: DeviceToken) -> Resolution {
        state.withLock { $0.resolutions.value(token) } ?? .notAskedYet
    }

    /// Opens a token and reads its registration.
    ///
    /// - Throws: when the store cannot be read; whether the token is active is not known then.
    public func find(_ token: DeviceToken) async throws -> Resolution {
        guard let subject = sealer.open(token) else { return .bad }
        let changes = state.withLock { $0.changes }
        let registration = try await store.registration(
            device: subject.device, app: subject.app, environment: subject.environment)
        let resolution = Self.resolution(of: subject, registration)
        state.withLock { state in
            if state.changes == changes { state.resolutions.insert(resolution, token) }
        }
        return resolution
    }

    static func resolution(of subject: TokenSubject, _ registration: Registration?) -> Resolution {
        guard let registration, subject.generation <= registration.generation else { return .bad }
        if subject.generation == registration.generation {
            return registration.endedAt.map { .ended($0) } ?? .active(subject)
        }
        return .ended(registration.previousEndedAt ?? Timestamp(rawValue: 0))
    }

    /// Forgets what was read before a registration changed.
    public func registrationChanged() {
        state.withLock { state in
            state.changes += 1
            state.resolutions.removeAll()
        }
    }
}
