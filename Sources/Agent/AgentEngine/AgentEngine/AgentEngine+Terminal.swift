import AgentProtocol
import PushCore

/// Orders of a person at a terminal, and the notifications of terminals. `ManagementCommandHandler` has examined both.
extension AgentEngine {
    /// Does what a person at a terminal orders.
    ///
    /// - Returns: Whether it is answered when it is durable; else at once.
    package mutating func execute(_ order: ManagementOrder, _ context: Context) -> Bool {
        switch order {
        case .cancel(let identifiers, let app): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .act(let notification, let action, let text):
            withdraw([notification.id])
            choose(notification, action: action, text: text, activationToken: nil, by: .terminal, context: context)
            return false
        case .dismiss(let id):
            withdraw([id])
            do { try dismissed(id, by: .terminal, context) } catch { fail(error) }
            return false
        case .setQuietHours(let hours, let text):
            surroundings.quietHours = hours
            enqueue(.preference(name: QuietHours.name, value: text))
        case .settle(let record, let app, let isDecision):
            change(app) { $0 = record }
            if isDecision { closeQuestion(of: app) }
        case .enter(let app, let state):
            tell(app, [.enter(state)])
            return false
        case .openSettings(let app):
            supervise(.settingsWished, app: app, context: context)
            return false
        }
        return true
    }

    /// The conditions for a notification from a terminal; `nil` until the terminal's own app is installed.
    package func notifyConditions(
        of request: NotificationRequest, _ context: Context
    ) throws -> NotifyConditions? {
        guard let terminal = apps[AppManifest.terminalID] else { return nil }
        return NotifyConditions(
            presentation: conditions(of: terminal, context), isFull: terminals.isFull,
            triggerFault: try request.trigger.flatMap {
                try fault(of: $0, of: request.identifier, app: AppManifest.terminalID, context)
            })
    }

    /// Shows a notification of the terminal's, or has it wait for its time or place.
    ///
    /// - Parameter waits: Whether the terminal waits for what a person does.
    package mutating func notify(
        _ request: NotificationRequest, terminal: Confirmation, waits: Bool, context: Context
    ) {
        if request.trigger == nil {
            failTerminal(request.identifier, "a later notification took its place")
            if waits { terminals.wait(terminal, for: request.identifier) }
        }
        addRequest(request, as: nil, app: AppManifest.terminalID, context)
    }

    /// Notifies the terminal that waits for an answer that there will be none.
    mutating func failTerminal(_ identifier: String, _ reason: String) {
        guard let waiter = terminals.end(identifier) else { return }
        // A question without a terminal that waits must not appear later.
        enqueue(.unlisted(app: AppManifest.terminalID, identifiers: [identifier]))
        send([.managed(request: waiter.request, .failed(message: reason))], to: waiter.connection)
    }

    /// Sends the terminal that waits the action of the person.
    ///
    /// - Returns: Whether the notification was a terminal's.
    mutating func notifyTerminal(_ notification: WaitingNotification, action: String, text: String?) -> Bool {
        guard notification.app == AppManifest.terminalID else { return false }
        if let waiter = terminals.end(notification.identifier) {
            send([.managed(request: waiter.request, .answered(action: action, text: text))], to: waiter.connection)
        }
        return true
    }
}
