import AgentProtocol
import PushCore

/// An order of a command to the agent.
package enum ManagementOrder: Sendable {
    /// Take back requests of an app that wait.
    case cancel([String], app: BundleID)
    /// Do what a person does who chooses an action of a notification.
    case act(WaitingNotification, action: String, text: String?)
    /// Do what a person does who dismisses a notification.
    case dismiss(NotificationID)
    /// Settle the quiet hours; the text is what is stored.
    case setQuietHours(QuietHours?, text: String)
    /// Settle an app's record. `isDecision`: the person decided whether the app may send notifications.
    case settle(AppNotificationRecord, app: BundleID, isDecision: Bool)
    /// Have an app that runs be in this state.
    case enter(app: BundleID, AppState)
    /// Have an app show its own settings.
    case openSettings(app: BundleID)
}

/// The conditions for a notification from a terminal.
package struct NotifyConditions {
    /// How notifications of terminals appear now.
    package var presentation: PresentationConditions
    /// Whether as many terminals wait for answers as may (``TerminalWaiters``).
    package var isFull: Bool
    /// The fault in the notification's trigger; `nil` where there is none.
    package var triggerFault: String?

    /// The conditions of one notification.
    package init(presentation: PresentationConditions, isFull: Bool, triggerFault: String?) {
        self.presentation = presentation
        self.isFull = isFull
        self.triggerFault = triggerFault
    }
}
