import HubProtocol
import PushCore
import PushServer

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
            var before: [SendPart] = []
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
