import HubProtocol
import PushCore
import PushServer

extension NotificationHubs {
    /// Stores an installation in place of an earlier one.
    ///
    /// - Throws: ``HubError`` where the condition does not hold, its time is over, or a quota of the hub's would be passed.
    package func put(
        _ installation: HubProtocol.Installation, of hub: HubRecord, condition: EntityCondition = .none
    ) async throws -> (StoredInstallation, isNew: Bool) {
        do { try installation.checkTime(at: clock()) } catch { throw HubError.document(error) }
        guard let done = try await put(installation, of: hub, condition: condition, registersChannel: true) else {
            throw HubError.conditionFailed
        }
        return done
    }

    /// Stores an installation. It is tried again where another server has changed what it is judged by.
    private func put(
        _ installation: HubProtocol.Installation, of hub: HubRecord, condition: EntityCondition, registersChannel: Bool
    ) async throws -> (StoredInstallation, isNew: Bool)? {
        var known = hub
        for _ in 0..<Self.mostChanges {
            try await prepare(known)
            do {
                return try await store.put(
                    installation, hub: hub.number, condition: condition, registersChannel: registersChannel,
                    at: clock(),
                    admission: admission(to: hub), committed: committed)
            } catch is AudienceChangedError { known = try await store.hub(named: hub.name) ?? hub }
        }
        throw HubError.conflict("installations are put by others again and again; try again later")
    }

    /// Bytes of a document, at most: as many as a request can bring. Patches cannot make a longer one.
    static let longestDocument = 65_536

    /// Judges puts by the hub's quotas, those of the memory that its audiences take among them.
    private func admission(to hub: HubRecord) -> HubStore.Admission {
        { [self] put in
            guard put.after.bytes <= max(Self.longestDocument, put.before?.bytes ?? 0) else {
                throw HubError.document(
                    InstallationError(
                        "",
                        "the document would have \(put.after.bytes) bytes; at most \(Self.longestDocument) are taken"))
            }
            if let quota = try hub.limits.excess(of: put) ?? excess(of: put, hub) { throw HubError.quota(quota) }
        }
    }

    /// An installation.
    ///
    /// - Throws: ``HubError`` where there is none.
    package func installation(_ id: String, of hub: HubRecord) async throws -> StoredInstallation {
        guard let found = try await store.installation(id, hub: hub.number) else {
            throw HubError.missing("the installation \(id)")
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
        case false?: throw HubError.conditionFailed
        case nil:
            guard condition == .none else { throw HubError.conditionFailed }
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
        _ change: @Sendable (JSONValue) throws(InstallationError) -> JSONValue
    ) async throws -> StoredInstallation {
        for _ in 0..<Self.mostChanges {
            let found = try await installation(id, of: hub)
            guard condition.matches(found.version) else { throw HubError.conditionFailed }
            let changed: HubProtocol.Installation
            do {
                changed = try InstallationJSON.read(
                    try change(InstallationJSON.document(found.installation)), id: found.installation.id)
                try changed.checkTime(at: clock())
            } catch { throw HubError.document(error) }
            let done = try await put(
                changed, of: hub, condition: .version(found.version),
                registersChannel: changed.channelKey != found.installation.channelKey)
            if let done { return done.0 }
        }
        throw HubError.conflict("the installation is changed by others again and again; try again later")
    }

    /// Records that this server's own devices with some tokens were seen.
    package func markSeen(_ tokens: [String], at now: Timestamp) async throws {
        try await store.markSeen(tokens, at: now, committed: committed)
    }

    /// A selection of installations to list.
    package struct Query: Sendable {
        /// An expression that the installations match. Dead ones are excluded, unless they alone are selected.
        package var expression: String?
        /// The person whose installations are selected, dead ones as well; `nil` for everybody.
        package var user: String?
        /// Whether only installations with a dead channel, or only those with a live one, are selected; `nil` for both.
        package var isDead: Bool?
        /// The number after which the list begins.
        package var after: UInt32
        /// The maximum number of installations.
        package var limit: Int

        /// Creates an instance from its properties.
        package init(
            expression: String? = nil, user: String? = nil, isDead: Bool? = nil, after: UInt32 = 0, limit: Int = 100
        ) {
            self.expression = expression
            self.user = user
            self.isDead = isDead
            self.after = after
            self.limit = limit
        }
    }

    /// Lists installations by rising number.
    package func list(_ query: Query, of hub: HubRecord) async throws -> [StoredInstallation] {
        if let user = query.user { return try await installations(ofUser: user, query, of: hub) }
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

    /// Reads a person's installations that a query means, by their index.
    private func installations(
        ofUser user: String, _ query: Query, of hub: HubRecord
    ) async throws -> [StoredInstallation] {
        let expression = try expression(query.expression, of: hub, readsFields: true)
        let numbers = try await store.numbers(ofUser: user, hub: hub.number)
        let now = clock()
        var found: [StoredInstallation] = []
        for number in numbers where number > query.after && found.count < query.limit {
            for each in try await store.installations([number], hub: hub.number) {
                guard query.isDead.map({ $0 == (each.fault != nil) }) ?? true,
                    expression?.matches({ each.matches($0, now: now) }) ?? true
                else { continue }
                found.append(each)
            }
        }
        return found
    }

    /// Reads through the dead installations, which no index contains.
    private func dead(_ query: Query, of hub: HubRecord) async throws -> [StoredInstallation] {
        let expression = try expression(query.expression, of: hub, readsFields: true)
        var found: [StoredInstallation] = []
        var after = query.after
        while found.count < query.limit {
            let page = try await store.installations(hub: hub.number, after: after, isDead: true, limit: 1000)
            let now = clock()
            found += page.filter { each in expression?.matches { each.matches($0, now: now) } ?? true }
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
