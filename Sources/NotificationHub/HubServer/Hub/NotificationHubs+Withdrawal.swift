import HubProtocol
import PushCore
import PushServer

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
        await slices.settle(hub.number)
        record = try await send(id, of: hub)
        guard record.request.format != .template, case .audience = record.request.target else {
            return try await withdrawRows(of: record, hub, timelines, withdrawal)
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
                if try await takeBack(id, hub, timelines, withdrawal)?.isTakenBack ?? false { count += 1 }
            }
        }
        return count
    }

    /// Withdraws the notifications that have a row: each notification of templates, and those to named channels.
    private func withdrawRows(
        of record: SendRecord, _ hub: HubRecord, _ timelines: any TimelineService,
        _ withdrawal: any NotificationWithdrawal
    ) async throws -> Int {
        var place: (installation: UInt32, part: String)?
        var count = 0
        while true {
            let rows = try await store.recipients(of: record.number, after: place, limit: SendSlice.largest)
            for row in rows where row.outcome == .success {
                let id = SendSlice.id(hub, record, row).rawValue
                if try await takeBack(id, hub, timelines, withdrawal)?.isTakenBack ?? false { count += 1 }
            }
            guard rows.count == SendSlice.largest, let last = rows.last else { return count }
            place = (last.installation, last.part)
        }
    }

    /// Withdraws the notification with an id; `nil` where there is none.
    func takeBack(
        _ id: String, _ hub: HubRecord, _ timelines: any TimelineService, _ withdrawal: any NotificationWithdrawal
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
