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
            } catch is AudienceBehind { known = try await store.hub(named: hub.name) ?? hub }
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
            guard condition.holds(found.version) else { throw HubError.conditionFailed }
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
    package func see(_ tokens: [String], at now: Timestamp) async throws {
        try await store.see(tokens, at: now, committed: committed)
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
                    expression?.holds({ each.holds($0, now: now) }) ?? true
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

/// The data that an erasure deleted of a person.
package struct ErasureReport: Hashable, Sendable {
    /// The ids of the installations.
    package var installations: [String] = []
    /// The number of notifications that were queued for their devices or shown on them, and were withdrawn.
    package var notifications = 0
    /// The number of webhook events that named the installations and are not sent.
    package var events = 0
}

extension NotificationHubs {
    /// Deletes all data of a person: every installation of a user id, the notifications queued for or shown on their
    /// devices, and the events that name them.
    ///
    /// The installations leave every audience first and are deleted last: after an error the call can be repeated, and
    /// still finds them. In between it waits for the slices that were under way.
    package func erase(
        user: String, of hub: HubRecord, timelines: any TimelineService, by withdrawal: any NotificationWithdrawal
    ) async throws -> ErasureReport {
        var erasure = ErasureReport()
        let numbers = try await store.numbers(ofUser: user.lowercased(), hub: hub.number)
        let found = try await store.installations(numbers, hub: hub.number)
        try await store.retire(found, hub: hub.number, at: now, committed: committed)
        try await waitForSlices(of: hub)
        for each in found {
            try await followCopies(of: each.number, hub)
            erasure.notifications += try await takeBack(
                from: each.number, hub: hub, timelines: timelines, withdrawal: withdrawal)
            guard let events = try await store.erase(each.installation.id, hub: hub.number, committed: committed)
            else { continue }
            erasure.installations.append(each.installation.id)
            erasure.events += events
        }
        return erasure
    }

    /// The time for which slices of other servers are waited for, in milliseconds.
    private static let longestSlice: Int64 = 60_000

    /// Waits for the end of the slices that are under way now, also at other servers.
    ///
    /// - Throws: ``HubError`` where one takes longer than a minute.
    private func waitForSlices(of hub: HubRecord) async throws {
        await slices.waitUntilEnded(of: hub.number)
        let start = now
        let claims = try await store.claims(.send)
        let own = Set(try await store.sends(claims.map(\.number)).filter { $0.hub == hub.number }.map(\.number))
        for claim in claims where own.contains(claim.number) {
            while try await !store.claim(claim) {
                guard now.milliseconds(since: start) < Self.longestSlice else {
                    throw HubError.conflict("another server is still sending to the hub; try again")
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            await store.release(claim)
        }
    }

    /// The maximum number of rounds in which a part's copies are read.
    private static let mostFollowRounds = 100

    /// Makes an installation's report rows for copies of the parts that contain it.
    func followCopies(of installation: UInt32, _ hub: HubRecord) async throws {
        let parts = try await store.openParts(with: installation, hub: hub.number, at: now)
        for record in try await store.sends(Array(Set(parts.map(\.send)))) {
            var before: [SendSegment] = []
            for _ in 0..<Self.mostFollowRounds {
                try await follow(record, of: hub)
                let after = try await store.parts(ofSend: record.number)
                if after == before { break }
                before = after
            }
        }
    }

    private func takeBack(
        from installation: UInt32, hub: HubRecord, timelines: any TimelineService,
        withdrawal: any NotificationWithdrawal
    ) async throws -> Int {
        let open = try await store.openRecipients(for: installation)
        let records = Dictionary(
            try await store.sends(Array(Set(open.map(\.send)))).map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        var count = 0
        for (send, recipient) in open {
            guard let record = records[send], let id = notificationID(of: recipient, in: record, hub: hub) else {
                continue
            }
            let outcome = try await takeBack(id, hub: hub, timelines: timelines, withdrawal: withdrawal)
            guard outcome != .failed else {
                throw HubError.conflict("what is on a device, or waits for it, cannot be taken back now; try again")
            }
            guard outcome?.isTakenBack ?? false else { continue }
            var row = recipient
            row.end = .ended
            try await store.updateRecipients([row], of: send, lookedUpAt: now)
            count += 1
        }
        return count
    }
}

extension NotificationHubs {
    /// Withdraws a send: queued notifications are not delivered, and devices that may have received theirs remove it
    /// from the screen.
    ///
    /// A broadcast part is withdrawn at once, all other notifications one by one.
    ///
    /// - Returns: The number of notifications that were withdrawn.
    package func withdraw(
        _ id: String, of hub: HubRecord, timelines: any TimelineService, by withdrawal: any NotificationWithdrawal
    ) async throws -> Int {
        var record = try await send(id, of: hub)
        if !record.state.isFinal { record = try await cancel(id, of: hub) }
        // Slices that are under way continue after the send has ended, and are withdrawn with the others.
        try await waitForSlices(of: hub)
        record = try await send(id, of: hub)
        guard record.request.format != .template, case .audience = record.request.target else {
            return try await withdrawRows(of: record, hub: hub, timelines: timelines, withdrawal: withdrawal)
        }
        var audience = try await store.audience(ofSend: record.number)
        var count = 0
        for part in try await store.parts(ofSend: record.number) {
            guard let broadcast = part.broadcast, part.withdrawnAt == nil else { continue }
            try await gateway?.withdraw(broadcast)
            try await store.noteWithdrawn(part, at: now)
            audience = audience.subtracting(try await readableAudience(of: part) ?? Bitmap())
            count += part.count
        }
        // In each wave of a campaign the cursor starts anew: it does not bound the members of the whole send that were
        // processed.
        if record.request.campaign == nil { audience = audience.intersection(Bitmap(below: record.cursor)) }
        var next: UInt32? = 0
        while let start = next {
            let numbers = audience.numbers(from: start, limit: SendSlice.largest)
            next = numbers.count < SendSlice.largest ? nil : numbers.last.flatMap { $0 < .max ? $0 + 1 : nil }
            for number in numbers {
                let id = SendSlice.id(hub, record, "\(number)").rawValue
                if try await takeBack(id, hub: hub, timelines: timelines, withdrawal: withdrawal)?.isTakenBack ?? false
                {
                    count += 1
                }
            }
        }
        return count
    }

    /// Withdraws the notifications that have a row: each notification of templates, and those to named channels.
    private func withdrawRows(
        of record: SendRecord, hub: HubRecord, timelines: any TimelineService,
        withdrawal: any NotificationWithdrawal
    ) async throws -> Int {
        var place: (installation: UInt32, part: String)?
        var count = 0
        while true {
            let rows = try await store.recipients(of: record.number, after: place, limit: SendSlice.largest)
            for row in rows where row.outcome == .success {
                let id = SendSlice.id(hub, record, row).rawValue
                if try await takeBack(id, hub: hub, timelines: timelines, withdrawal: withdrawal)?.isTakenBack ?? false
                {
                    count += 1
                }
            }
            guard rows.count == SendSlice.largest, let last = rows.last else { return count }
            place = (last.installation, last.part)
        }
    }

    /// Withdraws the notification with an id; `nil` where there is none.
    func takeBack(
        _ id: String, hub: HubRecord, timelines: any TimelineService, withdrawal: any NotificationWithdrawal
    ) async throws -> WithdrawalOutcome? {
        guard let found = try await timelines.timelines(of: id, team: hub.team).first, let device = found.device else {
            return nil
        }
        return await withCheckedContinuation { continuation in
            withdrawal.withdraw(found.id, of: device) { continuation.resume(returning: $0) }
        }
    }
}

extension WithdrawalOutcome {
    /// Whether the notification can no longer arrive, or is removed from the screen.
    var isTakenBack: Bool { self == .withdrawn || self == .mayHaveArrived }
}
