import PushCore
import Synchronization

/// The change that the current task's request asks for. Thread-safe.
///
/// The entry is written when the request has shown its credential, before the change; a request without a valid credential
/// leaves no entry, so that strangers cannot fill the log.
package final class AuditScope: Sendable {
    /// The scope of the request that the current task serves; `nil` where it changes nothing that is audited.
    @TaskLocal package static var current: AuditScope?

    private struct State {
        var isBegun = false
        var number: Int64?
    }

    private let log: AuditLog
    private let change: AuditChange
    private let keyID: String?
    private let origin: AuditOrigin
    private let before: @Sendable () async throws -> JSONValue?
    private let state = Mutex(State())

    /// Describes the change of a request.
    ///
    /// - Parameters:
    ///   - keyID: The id of the key by which the request's token says it was made; it counts once the token was checked.
    ///   - origin: The interface by which the request came, outside of the console.
    ///   - before: Reads the object before the change.
    package init(
        _ change: AuditChange, log: AuditLog, keyID: String?, origin: AuditOrigin = .api,
        before: @escaping @Sendable () async throws -> JSONValue?
    ) {
        self.change = change
        self.log = log
        self.keyID = keyID
        self.origin = origin
        self.before = before
    }

    /// Writes the entry, once.
    ///
    /// - Parameter key: The name or id of the credential's key, where the check knows it.
    /// - Throws: The store's error; the change must not be made then.
    package func begin(_ caller: Caller, key: String? = nil) async throws {
        let isFirst = state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
        guard isFirst else { return }
        var change = change
        let actor: AuditActor
        switch caller {
        case .team(let team), .clients(of: let team):
            change.team = change.team ?? team.rawValue
            actor = .credential(team: team.rawValue, key: key ?? keyID)
        case .unauthenticated, .devices, .development, .background: actor = .development
        }
        // The object is read on behalf of the server: it is neither a change nor a credential of the caller's.
        let tree = try await Self.$current.withValue(nil) {
            try await RequestScope.$current.withValue(nil) { try await before() }
        }
        let person = AuditActor.current
        let number = try await log.begin(
            change, by: person ?? actor, from: person == nil ? origin : .console, before: tree)
        state.withLock { $0.number = number }
    }

    /// Writes the end of the change, where it was begun.
    ///
    /// - Parameter made: The name or id that the object got by the change.
    package func end(_ outcome: AuditOutcome, made: String? = nil, after: JSONValue? = nil) async throws {
        guard let number = state.withLock({ $0.number }) else { return }
        let object = made.map { change.object.isEmpty ? $0 : "\(change.object)/\($0)" }
        try await log.end(number, outcome, object: object, after: after)
    }
}
