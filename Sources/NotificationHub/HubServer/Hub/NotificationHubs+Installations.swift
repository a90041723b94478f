import HubProtocol
import PushCore

extension NotificationHubs {
    /// Stores an installation in place of an earlier one.
    ///
    /// - Throws: ``HubFault`` where the condition does not hold, its time is over, or a quota of the hub's would be passed.
    package func put(
        _ installation: Installation, of hub: HubRecord, condition: EntityCondition = .none
    ) async throws -> (StoredInstallation, isNew: Bool) {
        do { try installation.checkTime(at: clock()) } catch { throw HubFault.document(error) }
        try await prepare(hub)
        guard
            let done = try await store.put(
                installation, hub: hub.number, condition: condition, registersChannel: true, at: clock(),
                admission: admission(to: hub), committed: committed)
        else { throw HubFault.conditionFailed }
        return done
    }

    /// Bytes of a document, at most: as many as a request can bring. Patches cannot make a longer one.
    static let longestDocument = 65_536

    /// Judges puts by the hub's quotas, those of the memory that its audiences take among them.
    private func admission(to hub: HubRecord) -> HubStore.Admission {
        { [self] put throws(HubFault) in
            guard put.after.bytes <= max(Self.longestDocument, put.before?.bytes ?? 0) else {
                throw .document(
                    InstallationFault(
                        "",
                        "the document would have \(put.after.bytes) bytes; at most \(Self.longestDocument) are taken"))
            }
            if let quota = hub.limits.excess(of: put) ?? excess(of: put, hub) { throw .quota(quota) }
        }
    }

    /// An installation.
    ///
    /// - Throws: ``HubFault`` where there is none.
    package func installation(_ id: String, of hub: HubRecord) async throws -> StoredInstallation {
        guard let found = try await store.installation(id, hub: hub.number) else {
            throw HubFault.missing("the installation \(id)")
        }
        return found
    }

    /// Deletes an installation; returns whether it existed.
    @discardableResult
    package func delete(
        _ id: String, of hub: HubRecord, condition: EntityCondition = .none
    ) async throws -> Bool {
        switch try await store.delete(id, hub: hub.number, condition: condition, committed: committed) {
        case true?: return true
        case false?: throw HubFault.conditionFailed
        case nil:
            guard condition == .none else { throw HubFault.conditionFailed }
            return false
        }
    }

    /// The maximum number of attempts at a change: an attempt fails when another change was made in between.
    private static let mostChanges = 100

    /// Changes an installation's document; tries again where another change came in between.
    ///
    /// - Parameter change: Makes the new document from the present one.
    package func change(
        _ id: String, of hub: HubRecord, condition: EntityCondition = .none,
        _ change: @Sendable (JSONTree) throws(InstallationFault) -> JSONTree
    ) async throws -> StoredInstallation {
        try await prepare(hub)
        for _ in 0..<Self.mostChanges {
            let found = try await installation(id, of: hub)
            guard condition.holds(found.version) else { throw HubFault.conditionFailed }
            let changed: Installation
            do {
                changed = try InstallationJSON.read(
                    try change(InstallationJSON.document(found.installation)), id: found.installation.id)
                try changed.checkTime(at: clock())
            } catch { throw HubFault.document(error) }
            if let done = try await store.put(
                changed, hub: hub.number, condition: .version(found.version),
                registersChannel: changed.channelKey != found.installation.channelKey, at: clock(),
                admission: admission(to: hub), committed: committed)
            {
                return done.0
            }
        }
        throw HubFault.conflict("the installation is changed by others again and again; try again later")
    }

    /// Records that this server's own devices with some tokens were seen.
    package func see(_ tokens: [String], at now: Timestamp) async throws {
        for (hub, numbers) in try await store.see(tokens, at: now) where !numbers.isEmpty {
            seen(numbers, hub: hub, at: now)
        }
    }

    /// A selection of installations to list.
    package struct Query: Sendable {
        /// An expression that the installations match. Dead ones are excluded, unless they alone are selected.
        package var expression: String?
        /// Whether only installations with a dead channel, or only those with a live one, are selected; `nil` for both.
        package var isDead: Bool?
        /// The number after which the list begins.
        package var after: UInt32
        /// The maximum number of installations.
        package var limit: Int

        /// Creates an instance from its properties.
        package init(expression: String? = nil, isDead: Bool? = nil, after: UInt32 = 0, limit: Int = 100) {
            self.expression = expression
            self.isDead = isDead
            self.after = after
            self.limit = limit
        }
    }

    /// Lists installations by rising number.
    package func list(_ query: Query, of hub: HubRecord) async throws -> [StoredInstallation] {
        guard let text = query.expression else {
            return try await store.installations(
                hub: hub.number, after: query.after, isDead: query.isDead, limit: query.limit)
        }
        guard query.isDead != true else { return try await dead(query, of: hub) }
        let audience = try await audience(text, of: hub, for: nil, readsFields: true)
        let (start, overflow) = query.after.addingReportingOverflow(1)
        guard !overflow else { return [] }
        return try await store.installations(audience.numbers(from: start, limit: query.limit), hub: hub.number)
    }

    /// Reads through the dead installations, which no index contains.
    private func dead(_ query: Query, of hub: HubRecord) async throws -> [StoredInstallation] {
        let expression = try expression(query.expression, of: hub, readsFields: true)
        var found: [StoredInstallation] = []
        var after = query.after
        while found.count < query.limit {
            let page = try await store.installations(hub: hub.number, after: after, isDead: true, limit: 1000)
            let now = clock()
            found += page.filter { each in expression?.holds { each.holds($0, now: now) } ?? true }
            guard page.count == 1000, let last = page.last else { break }
            after = last.number
        }
        return Array(found.prefix(query.limit))
    }

    /// The time for which a send is kept after its end: 30 days, in milliseconds.
    static let retention: Int64 = 30 * 86_400_000

    /// Deletes expired installations, and sends that ended long ago, a slice at a time.
    package func deleteExpired() async throws {
        let old = clock().adding(milliseconds: -Self.retention)
        while try await store.deleteSends(endedBefore: old, limit: 50) {
            if Task.isCancelled { return }
        }
        while try await store.deleteExpired(before: clock(), limit: 500, committed: committed) {
            if Task.isCancelled { return }
        }
    }
}
