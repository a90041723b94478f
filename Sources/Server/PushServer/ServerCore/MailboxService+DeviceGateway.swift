import PushCore

/// An error: the store did not take the timelines that are written behind, so a look-up would lack them.
package struct TimelinesNotWritten: Error {
    /// Creates an error without details; the store's error is in the log.
    package init() {}
}

extension MailboxService: DeviceGateway {
    /// Queues the login. The writer checks the secret in the login's batch. If the batch cannot be committed, the
    /// verdict is `.unavailable`.
    nonisolated package func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        then complete: @escaping @Sendable (DeviceLoginVerdict) -> Void
    ) {
        _ = submit(.open(login, connection, complete))
    }

    /// Reads from the store, concurrently with the writer.
    nonisolated package func page(
        _ session: DeviceSessionID, after: NotificationID?, limit: Int,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        let now = clock()
        store.page(device: session.device, after: after, limit: limit, now: now) { [health] page in
            // Damage is often found when queued notifications are read.
            if case .failure(let error) = page { health.failed(error, at: now) }
            complete(page)
        }
    }

    /// Queues the note; its line is written with the notification's next change, or after about a second.
    nonisolated package func sent(_ session: DeviceSessionID, _ ids: [NotificationID]) {
        _ = submit(.sent(session, ids, clock()))
    }

    /// Adds to the timelines that are written behind; attempts that are not recorded there are ignored.
    nonisolated package func attempts(_ ids: [NotificationID], became event: AttemptEvent) {
        let now = clock()
        if event == .acknowledged { metrics.acknowledged(ids, at: now) }
        scheduleNotes(queue.attempts(ids, became: event, at: now))
    }

    /// Queues the acknowledgement; ids of other devices' notifications are ignored.
    nonisolated package func acknowledged(
        _ session: DeviceSessionID, _ ids: [NotificationID], then complete: @escaping @Sendable (Bool) -> Void
    ) {
        metrics.acknowledged(ids, at: clock())
        _ = submit(.acknowledged(session, ids, complete))
    }

    /// Finds the device's own notifications concurrently with the writer, so that receipts of unknown ones cost the
    /// writer nothing. Ids whose notes are not committed yet go to the writer unread: the store does not have them.
    nonisolated package func record(
        _ receipts: [Receipt], of session: DeviceSessionID, then complete: @escaping @Sendable (ReceiptOutcome) -> Void
    ) {
        let uncommitted = queue.uncommitted(receipts.lazy.map(\.id))
        let ids = Set(receipts.lazy.map(\.id)).subtracting(uncommitted)
        guard !ids.isEmpty else {
            _ = submit(.record(receipts, session) { complete($0 ? .durable(ignored: 0) : .failed) })
            return
        }
        store.notifications(of: session.device, among: Array(ids)) { [self] found in
            guard case .success(let own) = found else { return complete(.failed) }
            let known = receipts.filter { uncommitted.contains($0.id) || own.contains($0.id) }
            let ignored = receipts.count - known.count
            guard !known.isEmpty else { return complete(.durable(ignored: ignored)) }
            _ = submit(.record(known, session) { complete($0 ? .durable(ignored: ignored) : .failed) })
        }
    }

    /// Waits until every line of a timeline that was written behind so far is durable.
    ///
    /// - Throws: ``TimelinesNotWritten`` when the store does not take the lines.
    nonisolated package func flushNotes() async throws {
        let isDurable = await withCheckedContinuation { continuation in
            _ = submit(.flush { continuation.resume(returning: $0) })
        }
        guard isDurable else { throw TimelinesNotWritten() }
    }

    /// Queues the end of the session; it takes effect after the commands that were queued before.
    nonisolated package func close(_ session: DeviceSessionID) { _ = submit(.close(session)) }
}
