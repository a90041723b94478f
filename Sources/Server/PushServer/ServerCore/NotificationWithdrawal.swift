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

/// The outcome of a withdrawal.
package enum WithdrawalOutcome: Hashable, Sendable {
    /// The notification was queued, and does not reach the device any more.
    case withdrawn
    /// The device has the notification, or may have it, and is asked to remove it from the screen. It no longer waits.
    case mayHaveArrived
    /// The notification was withdrawn before, or had left its mailbox without being sent, as its timeline shows.
    case ended
    /// The device has no such notification.
    case unknown
    /// The store did not take the withdrawal; nothing happened.
    case failed
}
