import APNsProtocol
import PushCore
import Synchronization

/// The registrations of device tokens, active or ended, from a bounded cache before the store.
///
/// Thread-safe. A token that no key opens is refused without any look-up.
package final class TokenDirectory: Sendable {
    /// The state of a token.
    package enum Resolution: Hashable, Sendable {
        /// The registration is active; the subject is the decoded token.
        case active(TokenSubject)
        /// The registration ended at this instant; 1970 where the instant is not known.
        case ended(Timestamp)
        /// No key opens the token, or its registration never existed.
        case bad
        /// Not cached: call ``find(_:)``.
        case needsLookUp
    }

    /// The key of a registration; its tokens differ by generation.
    private struct Place: Hashable {
        var device: DeviceID
        var app: AppID
        var environment: PushEnvironment

        init(_ subject: TokenSubject) {
            device = subject.device
            app = subject.app
            environment = subject.environment
        }
    }

    /// The look-ups of one registration that have begun and not ended.
    private struct InFlightLookups {
        var lookUps = 0
        /// The number of changes of the registration meanwhile.
        var changes = 0
    }

    private struct State {
        var resolutions: GenerationCache<DeviceToken, Resolution>
        /// The register's version of the cached answers.
        var version: UInt64 = 0
        var inFlight: [Place: InFlightLookups] = [:]

        /// Counts a look-up that begins.
        ///
        /// - Returns: The number of changes; ``endLookUp(of:)`` must return the same number for the result to be cached.
        mutating func beginLookUp(of place: Place) -> Int {
            inFlight[place, default: InFlightLookups()].lookUps += 1
            return inFlight[place]?.changes ?? 0
        }

        mutating func endLookUp(of place: Place) -> Int {
            guard var lookups = inFlight[place] else { return 0 }
            lookups.lookUps -= 1
            inFlight[place] = lookups.lookUps > 0 ? lookups : nil
            return lookups.changes
        }
    }

    private let store: any RegisterStore
    private let capacity: Int
    /// Seals and opens device tokens.
    package let sealer: DeviceTokenSealer
    private let state: Mutex<State>

    /// Creates a directory that has looked up nothing yet.
    ///
    /// - Parameter capacity: The number of tokens in the cache, up to twice as many; about 150 bytes each.
    package init(store: any RegisterStore, sealer: DeviceTokenSealer, capacity: Int = 200_000) {
        self.store = store
        self.sealer = sealer
        self.capacity = capacity
        state = Mutex(State(resolutions: GenerationCache(capacity: capacity)))
    }

    /// Returns the cached state. Answers read before the register changed are discarded: the change may have ended a
    /// registration.
    package func known(_ token: DeviceToken) -> Resolution {
        let version = store.registerVersion
        return state.withLock { state in
            guard state.version == version else { return .needsLookUp }
            return state.resolutions.value(token) ?? .needsLookUp
        }
    }

    /// Opens a token and reads its registration.
    ///
    /// - Throws: An error when the store cannot be read; whether the token is active is not known then.
    package func find(_ token: DeviceToken) async throws -> Resolution {
        try await find([token]).first ?? .bad
    }

    /// Opens tokens and reads their registrations, all at once.
    ///
    /// - Returns: A resolution for each of the tokens, of which there may be some hundreds; none is
    ///   ``Resolution/needsLookUp``.
    /// - Throws: An error when the store cannot be read; whether any of the tokens is active is not known then.
    package func find(_ tokens: [DeviceToken]) async throws -> [Resolution] {
        let subjects = tokens.map(sealer.open)
        let opened = subjects.compactMap { $0 }
        guard !opened.isEmpty else { return tokens.map { _ in .bad } }
        let places = opened.map(Place.init)
        let version = store.registerVersion
        let changes = state.withLock { state in places.map { state.beginLookUp(of: $0) } }
        let registrations: [Registration?]
        do {
            registrations =
                if opened.count == 1 {
                    [
                        try await store.registration(
                            device: opened[0].device, app: opened[0].app, environment: opened[0].environment)
                    ]
                } else {
                    try await store.registrations(of: opened)
                }
        } catch {
            state.withLock { state in for place in places { _ = state.endLookUp(of: place) } }
            throw error
        }
        return keep(
            tokens, subjects: subjects, inFlight: zip(places, changes), registrations: registrations, asOf: version)
    }

    /// Returns the states of tokens, and caches those whose registrations did not change meanwhile.
    private func keep(
        _ tokens: [DeviceToken], subjects: [TokenSubject?], inFlight: Zip2Sequence<[Place], [Int]>,
        registrations: [Registration?], asOf version: UInt64
    ) -> [Resolution] {
        var answers = zip(inFlight, registrations).makeIterator()
        return state.withLock { state in
            zip(tokens, subjects).map { token, subject in
                guard let subject, let ((place, changes), registration) = answers.next() else { return .bad }
                let resolution = Self.resolution(of: subject, registration)
                guard state.endLookUp(of: place) == changes, state.version <= version else { return resolution }
                if state.version < version {
                    state.version = version
                    state.resolutions = GenerationCache(capacity: capacity)
                }
                state.resolutions.insert(resolution, token)
                return resolution
            }
        }
    }

    static func resolution(of subject: TokenSubject, _ registration: Registration?) -> Resolution {
        guard let registration, subject.generation <= registration.generation else { return .bad }
        if subject.generation == registration.generation {
            return registration.endedAt.map { .ended($0) } ?? .active(subject)
        }
        return .ended(registration.previousEndedAt ?? Timestamp(rawValue: 0))
    }

    /// Records the present state of a registration. Cached answers for its token that differ are discarded, and
    /// look-ups of it that are under way are not cached.
    ///
    /// Answers for other registrations stay, and so do answers that agree.
    /// - Parameter subject: The decoded token of the registration's generation.
    /// - Throws: The cryptographic library's error; never for a subject that was sealed before.
    package func registrationIs(_ registration: Registration, of subject: TokenSubject) throws {
        let tokens = try sealer.everyToken(of: subject)
        let place = Place(subject)
        let right = Self.resolution(of: subject, registration)
        state.withLock { state in
            state.inFlight[place]?.changes += 1
            for token in tokens where state.resolutions.value(token) != right { state.resolutions.remove(token) }
        }
    }
}
