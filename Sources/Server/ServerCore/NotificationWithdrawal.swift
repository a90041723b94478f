import Mailbox
import PushModel

/// How providers take back what they sent; the port of the doors that offer it.
public protocol NotificationWithdrawal: Sendable {
    /// Takes a notification of a device back; what waits leaves the mailbox as `withdrawn`.
    ///
    /// The caller has checked that the notification is its provider's; the timeline names the device. May be called on
    /// any thread and returns at once. Completes exactly once, when the outcome is durable, on a thread of the server.
    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void)
}

/// What became of a withdrawal.
public enum WithdrawalOutcome: Hashable, Sendable {
    /// It waited, and does not reach the device any more.
    case withdrawn
    /// The device has it, or may have it: only there it can be taken off the screen. It waits no more.
    case mayHaveArrived
    /// It had left its mailbox before without being sent, as its timeline says.
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
        var withdrawal = Mailbox.Withdrawal()
        change(device, &batch) { resident in
            resident.change { mailbox in
                withdrawal = mailbox.withdrawn([id])
                return withdrawal.directives
            }
        }
        if withdrawal.absent.isEmpty {
            // What a session was given it may be writing now.
            return withdrawal.inFlight.isEmpty && sessions[device] == nil ? .withdrawn : .mayHaveArrived
        }
        guard let facts = batch.facts(of: id), facts.device == device else { return .unknown }
        return facts.has(.sent) || facts.has(.acked) ? .mayHaveArrived : .ended
    }
}
