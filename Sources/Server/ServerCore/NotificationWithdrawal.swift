import Mailbox
import PushModel

/// How providers take back what they sent; the port of the doors that offer it.
public protocol NotificationWithdrawal: Sendable {
    /// Takes a notification of a device back; what waits leaves the mailbox as `withdrawn`. A device that may have it is
    /// told to take it off its screen, and is told again until it has acknowledged that.
    ///
    /// The caller has checked that the notification is its provider's; the timeline names the device. May be called on
    /// any thread and returns at once. Completes exactly once, when the outcome is durable, on a thread of the server.
    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void)
}

/// How senders take back what they sent to many; the port of the doors that offer it.
public protocol BroadcastWithdrawal: Sendable {
    /// Takes a broadcast back: it makes no copy any more, and the copies are taken back one after the other.
    ///
    /// The caller has checked that it is its team's.
    /// - Returns: ``WithdrawalOutcome/withdrawn`` once no device gets it that does not have it yet; the copies may follow
    ///   later.
    /// - Throws: when the store cannot be read or written; the request may be made again.
    func withdrawBroadcast(_ id: NotificationID) async throws -> WithdrawalOutcome
}

/// What became of a withdrawal.
public enum WithdrawalOutcome: Hashable, Sendable {
    /// It waited, and does not reach the device any more.
    case withdrawn
    /// The device has it, or may have it, and is told to take it off its screen. It waits no more.
    case mayHaveArrived
    /// It was withdrawn before, or had left its mailbox without being sent, as its timeline says.
    case ended
    /// The device has no such notification.
    case unknown
    /// The store did not take it; nothing happened.
    case failed
}

extension MailboxService: NotificationWithdrawal {
    /// Queues the withdrawal; the outcome is told after the commit.
    nonisolated public func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) {
        _ = submit(.withdraw(id, device, complete))
    }

    /// Takes a notification of a device back.
    func withdraw(
        _ id: NotificationID, of device: DeviceID, _ batch: inout MailboxBatch
    ) -> WithdrawalOutcome {
        guard batch.facts(of: id)?.device == device else { return .unknown }
        let now = clock()
        // Made first: without it the device could not be told.
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

    /// Whether the device may have what was withdrawn now. What was withdrawn before has been told.
    private func mayHaveArrived(
        _ id: NotificationID, of device: DeviceID, _ withdrawal: Mailbox.Withdrawal, _ batch: MailboxBatch
    ) -> Bool {
        guard let facts = batch.facts(of: id) else { return false }
        guard withdrawal.absent.isEmpty else {
            return !facts.has(.withdrawn) && (facts.has(.sent) || facts.has(.acked))
        }
        // What a session was given it may be writing now.
        return !withdrawal.inFlight.isEmpty || sessions[device] != nil || facts.has(.sent)
    }
}
