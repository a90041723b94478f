import PushCore

/// The audit log's entries; the port that a store implements. Nothing changes or deletes an entry.
package protocol AuditStore: Sendable {
    /// Adds an entry for a change that is about to be made. It is durable when this returns.
    ///
    /// - Returns: The entry's number.
    func beginAudit(_ entry: AuditEntry) async throws -> Int64

    /// Adds the end of a change to its entry, once. It is durable when this returns.
    func endAudit(_ number: Int64, _ end: AuditEnd) async throws

    /// Reads a slice of the entries, the newest first.
    ///
    /// - Parameters:
    ///   - before: The number before which the slice begins; `nil` for the newest.
    ///   - limit: The maximum number of entries; at least 1.
    func auditEntries(
        _ filter: AuditFilter, before: Int64?, limit: Int
    ) async throws -> InventoryPage<AuditEntry, Int64>
}

/// A filter of the audit log. `nil` selects everything.
package struct AuditFilter: Sendable, Hashable {
    /// An action, or the part before its dot: `app.add`, `app`.
    package var action: String?
    /// A part of the object's name, in any case.
    package var object: String?
    /// The team that owns the object.
    package var team: String?
    /// The name, the kind or the id of the actor.
    package var actor: String?
    /// The interface by which the change came.
    package var origin: AuditOrigin?
    /// The instant from which entries count.
    package var from: Timestamp?
    /// The instant before which entries count.
    package var to: Timestamp?

    /// Creates a filter that selects every entry.
    package init() {}

    /// Whether an entry matches.
    package func wants(_ entry: AuditEntry) -> Bool {
        if let action, entry.action != action, !entry.action.hasPrefix(action + ".") { return false }
        if let object, !entry.object.lowercased().contains(object.lowercased()) { return false }
        if let team, entry.team != team { return false }
        if let actor, ![entry.actor.name, entry.actor.kind, entry.actor.id].contains(actor) { return false }
        if let origin, entry.origin != origin { return false }
        if let from, entry.at < from { return false }
        if let to, entry.at >= to { return false }
        return true
    }
}
