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
        _ = submit(.sent(session, ids: ids, at: clock()))
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
            _ = submit(.record(receipts, session: session) { complete($0 ? .durable(ignored: 0) : .failed) })
            return
        }
        store.notifications(of: session.device, among: Array(ids)) { [self] found in
            guard case .success(let own) = found else { return complete(.failed) }
            let known = receipts.filter { uncommitted.contains($0.id) || own.contains($0.id) }
            let ignored = receipts.count - known.count
            guard !known.isEmpty else { return complete(.durable(ignored: ignored)) }
            _ = submit(.record(known, session: session) { complete($0 ? .durable(ignored: ignored) : .failed) })
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

extension MailboxService: NotificationAcceptor {
    /// Queues the acceptance, or makes its one attempt at once. Returns `false` while 32,768 acceptances are queued.
    nonisolated package func accept(_ acceptance: AcceptedNotification, sink: any AcceptanceSink) -> Bool {
        take(CollectionOfOne(acceptance), sink: sink) { _ in
            submit(.accept(QueuedAcceptance(acceptance, sink))) ? 1 : 0
        } == 1
    }

    /// Queues as many as fit into the bulk lane, ``Settings/bulkLimit`` at most; makes 512 attempts at a time.
    nonisolated package func acceptAll(_ acceptances: [AcceptedNotification], sink: any AcceptanceSink) async -> Int {
        var taken = 0
        while taken < acceptances.count, await queue.waitForCapacity() {
            taken += take(acceptances[taken...], sink: sink) { stored in
                let (count, push) = queue.enqueue(bulk: stored, sink: sink)
                wake(push)
                return count
            }
        }
        return taken
    }

    /// Takes some of a list, from the first one on. This is the only branch: notifications delivered once or never are
    /// attempted and completed now, and all others are queued.
    ///
    /// - Parameter queue: Queues some of the stored ones, from the first one on; returns how many, 0 where the queue is
    ///   full.
    nonisolated private func take<List: Collection<AcceptedNotification>>(
        _ acceptances: List, sink: any AcceptanceSink, queue: (List.SubSequence) -> Int
    ) -> Int {
        let next = acceptances.prefix(Self.takenAtOnce)
        let attempts = next.prefix(while: \.isAttempt)
        guard !attempts.isEmpty else { return queue(next.prefix { !$0.isAttempt }) }
        sink.completed(
            attempts.map {
                AcceptanceResult(ticket: $0.ticket, id: attempt($0), apnsID: $0.notification.apnsID)
            })
        return attempts.count
    }

    /// The number of a list's notifications that are taken before the task is checked for cancellation.
    private static var takenAtOnce: Int { 512 }
}

extension MailboxService: NotificationWithdrawal {
    /// Queues the withdrawal; completes after the commit.
    nonisolated package func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) {
        _ = submit(.withdraw(id, device, complete))
    }

    /// Withdraws a notification of a device.
    func withdraw(
        _ id: NotificationID, of device: DeviceID, _ batch: inout MailboxBatch
    ) -> WithdrawalOutcome {
        guard batch.facts(of: id)?.device == device else { return .unknown }
        let now = clock()
        // The id is made first: without it the device could not be notified.
        guard let recallID = nextID(of: device, &batch) else { return .failed }
        var withdrawal = Mailbox.Withdrawal()
        change(device, &batch) { resident in
            resident.change { mailbox in
                withdrawal = mailbox.withdrawn([id])
                return withdrawal.directives
            }
        }
        guard mayHaveArrived(id, of: device, withdrawal: withdrawal, batch: batch) else {
            return withdrawal.absent.isEmpty ? .withdrawn : .ended
        }
        let recall = Mailbox.Recall(id: recallID, notification: id, at: now)
        change(device, &batch) { $0.change { $0.recalled(recall) } }
        return .mayHaveArrived
    }

    /// Whether the device may have the notification that was withdrawn now. An earlier withdrawal was notified already.
    private func mayHaveArrived(
        _ id: NotificationID, of device: DeviceID, withdrawal: Mailbox.Withdrawal, batch: MailboxBatch
    ) -> Bool {
        guard let facts = batch.facts(of: id) else { return false }
        guard withdrawal.absent.isEmpty else {
            return !facts.has(.withdrawn) && (facts.has(.sent) || facts.has(.acked))
        }
        // An open session may be writing the notification now.
        return !withdrawal.inFlight.isEmpty || sessionLocation(of: device, in: batch) != .nowhere || facts.has(.sent)
    }
}
