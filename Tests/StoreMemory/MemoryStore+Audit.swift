import PushCore
import PushServer

extension MemoryStore: AuditStore {
    /// Adds an entry; nothing is durable.
    package func beginAudit(_ entry: AuditEntry) async throws -> Int64 {
        state.withLock { state in
            var entry = entry
            entry.number = Int64(state.audit.count) + 1
            state.audit.append(entry)
            return entry.number
        }
    }

    /// Adds the end of an entry that has none.
    ///
    /// - Throws: ``MemoryStoreError``
    package func endAudit(_ number: Int64, _ end: AuditEnd) async throws {
        try state.withLock { state in
            let place = Int(number) - 1
            guard state.audit.indices.contains(place), state.audit[place].end == nil else {
                throw MemoryStoreError.appendOnly
            }
            state.audit[place].end = end
            if let object = end.object { state.audit[place].object = object }
        }
    }

    /// Reads a slice of the entries.
    package func auditEntries(
        _ filter: AuditFilter, before: Int64?, limit: Int
    ) async throws -> InventoryPage<AuditEntry, Int64> {
        state.withLock { state in
            var page = InventoryPage<AuditEntry, Int64>()
            let entries = state.audit.prefix(Int(min(before ?? .max, Int64(state.audit.count) + 1)) - 1).reversed()
            for (passed, entry) in entries.enumerated() {
                if filter.wants(entry) { page.items.append(entry) }
                if page.items.count == limit || passed + 1 == InventoryPage<AuditEntry, Int64>.slice {
                    page.next = entry.number
                    return page
                }
            }
            return page
        }
    }
}
