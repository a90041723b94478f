import AgentEngine
import AgentProtocol

/// Checks of notifications from terminals.
extension ManagementCommandHandler {

    /// The fault in a notification from a terminal; `nil` where there is none.
    ///
    /// - Throws: when the store cannot be read.
    package func fault(
        of request: NotificationRequest, waits: Bool, _ conditions: NotifyConditions
    ) throws -> String? {
        guard request.content.showsText else { return "a notification needs a title or a body" }
        guard RequestRules.isWithinSize(request) else {
            return "it says more than \(RequestRules.longestRequest) bytes"
        }
        guard request.trigger == nil else {
            guard !waits else { return "only what appears at once can be waited for" }
            return try conditions.triggerFault ?? faultOfCount(with: request)
        }
        guard waits else { return nil }
        guard !conditions.isFull else {
            return "\(TerminalWaiters<Void>.limit) terminals wait for an answer already"
        }
        guard conditions.presentation.plan(request.content).showing.contains(.screen) else {
            return "it would not come to the screen, so nobody could answer: see the settings (aldaba settings "
                + "\(AppManifest.terminalID)), the quiet hours (aldaba settings all) and its level"
        }
        return nil
    }

    /// Why a terminal may not have a further request wait; `nil` where it may. All terminals are one app, and the
    /// request of one does not take the place of another's.
    private func faultOfCount(with request: NotificationRequest) throws -> String? {
        let others = try store.read { try $0.requests(app: AppManifest.terminalID) }.filter {
            $0.identifier != request.identifier
        }
        return others.count < ChangeApplier.requestLimit
            ? nil
            : "\(others.count) notifications of terminals wait already, which is as many as may; see "
                + "`aldaba notifications pending --app \(AppManifest.terminalID)`, and take some back"
    }

    /// Describes a notification of the terminal's that was stored just now, and waits.
    ///
    /// - Returns: ``ManagementAnswer/done`` where it cannot be read: it waits all the same.
    package func answer(toWaiting identifier: String) -> ManagementAnswer {
        guard let waiting = try? store.read({ try $0.pending(app: AppManifest.terminalID) }).last,
            waiting.request.identifier == identifier
        else { return .done }
        return .pending([describe(waiting)], next: nil)
    }
}
