import PushCore

/// Withdrawal of notifications by providers; the port of the endpoints that offer it.
package protocol NotificationWithdrawal: Sendable {
    /// Withdraws a notification of a device. A queued one leaves the mailbox as `withdrawn`. A device that may have
    /// received it is notified to remove it from the screen, again until it has acknowledged that.
    ///
    /// The caller has checked that the notification is its provider's; the timeline names the device. May be called on
    /// any thread and returns at once. Completes exactly once, when the outcome is durable, on a thread of the server.
    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void)
}

/// Withdrawal of broadcasts by their senders; the port of the endpoints that offer it.
package protocol BroadcastWithdrawal: Sendable {
    /// Withdraws a broadcast: no more copies are made, and the copies are withdrawn one after the other.
    ///
    /// The caller has checked that it belongs to its team.
    /// - Returns: ``WithdrawalOutcome/withdrawn`` once no device receives it that does not have it yet; the copies may
    ///   follow later.
    /// - Throws: An error when the store cannot be read or written; the request may be repeated.
    func withdrawBroadcast(_ id: NotificationID) async throws -> WithdrawalOutcome
}

/// The outcome of a withdrawal.
package enum WithdrawalOutcome: Hashable, Sendable {
    /// The notification was queued, and does not reach the device any more.
    case withdrawn
    /// The device has it, or may have it, and is notified to remove it from the screen. It is queued no longer.
    case mayHaveArrived
    /// It was withdrawn before, or had left its mailbox without being sent, as its timeline shows.
    case ended
    /// The device has no such notification.
    case unknown
    /// The store did not take the withdrawal; nothing happened.
    case failed
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
        guard let recallID = ids.next(now: now) else { return .failed }
        var withdrawal = Mailbox.Withdrawal()
        change(device, &batch) { resident in
            resident.change { mailbox in
                withdrawal = mailbox.withdrawn([id])
                return withdrawal.directives
            }
        }
        guard mayHaveArrived(id, of: device, withdrawal, batch) else {
            return withdrawal.absent.isEmpty ? .withdrawn : .ended
        }
        let recall = Mailbox.Recall(id: recallID, notification: id, at: now)
        change(device, &batch) { $0.change { $0.recalled(recall) } }
        return .mayHaveArrived
    }

    /// Whether the device may have the notification that was withdrawn now. An earlier withdrawal was notified already.
    private func mayHaveArrived(
        _ id: NotificationID, of device: DeviceID, _ withdrawal: Mailbox.Withdrawal, _ batch: MailboxBatch
    ) -> Bool {
        guard let facts = batch.facts(of: id) else { return false }
        guard withdrawal.absent.isEmpty else {
            return !facts.has(.withdrawn) && (facts.has(.sent) || facts.has(.acked))
        }
        // An open session may be writing the notification now.
        return !withdrawal.inFlight.isEmpty || sessions[device] != nil || facts.has(.sent)
    }
}
