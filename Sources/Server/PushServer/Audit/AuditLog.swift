import PushCore

/// The audit log: who changed what, by console, API and command line.
///
/// An entry is written before its change, and the end of the change after it. A change whose entry cannot be written is
/// refused. One whose end cannot be written was made, and its entry says that its outcome is unknown.
package struct AuditLog: Sendable {
    private let store: any AuditStore
    private let clock: @Sendable () -> Timestamp

    /// Writes to a store, with the times of a clock.
    package init(store: any AuditStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.clock = clock
    }

    /// Adds the entry of a change that is about to be made.
    ///
    /// - Returns: The entry's number, for ``end(_:_:object:after:)``.
    /// - Throws: The store's error; the change must not be made then.
    package func begin(
        _ change: AuditChange, by actor: AuditActor, from origin: AuditOrigin, before: JSONValue? = nil
    ) async throws -> Int64 {
        try await store.beginAudit(
            AuditEntry(
                at: clock(), actor: actor, origin: origin, action: change.action.rawValue, object: change.object,
                team: change.team, before: AuditRedaction.text(before)))
    }

    /// Adds the end of a change.
    ///
    /// - Parameter object: The name or id that the object got by the change.
    package func end(
        _ number: Int64, _ outcome: AuditOutcome, object: String? = nil, after: JSONValue? = nil
    ) async throws {
        try await store.endAudit(
            number, AuditEnd(at: clock(), outcome: outcome, object: object, after: AuditRedaction.text(after)))
    }
}
