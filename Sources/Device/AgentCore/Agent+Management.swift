import AgentWire
import AppConnections
import DeviceModel
import InstalledApps
import ManagementDesk
import PushModel

/// What a person asks at a terminal. Only connections of the `aldaba` program itself are answered. ``ManagementDesk`` answers;
/// here what it orders is done.
extension Agent {
    func installShell() throws {
        guard apps[AppManifest.terminalID] == nil else { return }
        let manifest = AppManifest(
            id: AppManifest.terminalID, name: "aldaba", team: "", executable: "", authorization: .granted)
        let record = try store.read { try $0.standing(app: AppManifest.terminalID) }
        apps[AppManifest.terminalID] = InstalledApp(manifest: manifest, record: record)
    }

    /// - Returns: Whether the connection may go on.
    func manage(_ command: ManagementCommand, _ request: Int64, _ connection: AppConnection) -> Bool {
        guard mayManage(connection) else { return false }
        do {
            flush()
            // A person may have installed an app just now.
            try loadApps()
            switch try desk.take(command) {
            case .answer(let answer)?: connection.send([.managed(request: request, answer)])
            case .order(let order)?: connection.send([.managed(request: request, execute(order))])
            // A conversation has it examined and stored (``AppConversations``).
            case nil: break
            }
            return true
        } catch {
            refuse(connection, error)
            return false
        }
    }

    func refuse(_ connection: AppConnection, _ error: any Error) {
        storeFailed(error)
        connection.refuse(code: "storeFailed", message: "the agent's store: \(error)")
    }

    func mayManage(_ connection: AppConnection) -> Bool {
        if parts.peerCheck.isOwn(connection.peer) { return true }
        connection.refuse(code: "notAllowed", message: "only the aldaba program itself may manage the agent")
        return false
    }

    /// A desk that knows what is so now. What is on its way to the store must be there.
    var desk: ManagementDesk {
        ManagementDesk(
            registry: registry, store: store, schedule: requestSchedule, surroundings: scheduleSurroundings,
            circumstances: ManagementDesk.Circumstances(
                isConnected: onLink { $0.isOpen } ?? false, hasServer: link != nil,
                hasScreen: parts.presenter.hasScreen, screenFault: parts.presenter.screenFault,
                quietHours: surroundings.quietHours,
                positionSource: parts.positions?.name,
                extensions: { [counts = extensions.counts] in counts.versions(of: $0) },
                environment: configuration.environment))
    }

    private func execute(_ order: ManagementDesk.Order) -> ManagementAnswer {
        switch order {
        case .cancel(let identifiers, let app): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .act(let notification, let action, let text):
            withdraw(notification.id)
            chose(notification, action, text, activationToken: nil, by: .terminal)
            return .done
        case .dismiss(let id):
            dismissedAtTerminal(id)
            return .done
        case .setQuietHours(let hours, let text):
            surroundings.quietHours = hours
            enqueue(.preference(name: QuietHours.name, value: text))
        case .settle(let record, let app, let isDecision):
            change(app) { $0 = record }
            if isDecision { settleQuestion(of: app) }
        case .enter(let app, let state):
            apps[app]?.connection?.send([.enter(state)])
            return .done
        case .openSettings(let app):
            supervise(.settingsWished, app)
            return .done
        }
        return durable()
    }

    /// Commits the batch, and answers whether the change is on the disk.
    private func durable() -> ManagementAnswer {
        let isKeptAfterFailure = batch.holdsWhatIsKept
        guard !flush() else { return .done }
        return .failed(
            message: isKeptAfterFailure
                ? "the agent's store does not take it now; it goes on trying, see its log"
                : "the agent's store does not take it, so it was not done; see the agent's log")
    }

    // MARK: Notifications of the terminal's own

    /// What is wrong with a notification of the terminal's; `nil` for nothing.
    func fault(of request: NotificationRequest, waits: Bool) throws -> String? {
        guard let terminal = apps[AppManifest.terminalID] else { return "the agent has not read its store yet" }
        flush()
        let conditions = ManagementDesk.NotifyConditions(
            presentation: conditions(of: terminal), isFull: terminals.isFull,
            triggerFault: try request.trigger.flatMap {
                try fault(of: $0, of: request.identifier, app: AppManifest.terminalID)
            })
        return try desk.fault(of: request, waits: waits, conditions)
    }

    /// - Returns: The answer; `nil` for a terminal that waits for what a person does.
    func notify(_ request: NotificationRequest, _ waiting: Confirmation, waits: Bool) -> ManagementAnswer? {
        guard request.trigger == nil else {
            schedule(request, as: nil, app: AppManifest.terminalID)
            let answer = durable()
            return answer == .done ? desk.answer(toWaiting: request.identifier) : answer
        }
        failWaiter(request.identifier, "a later notification took its place")
        if waits { terminals.wait(waiting, for: request.identifier) }
        fireAdded(request, as: nil, app: AppManifest.terminalID)
        return waits ? nil : durable()
    }

    /// Tells the terminal that waits for an answer that there will be none.
    func failWaiter(of notification: WaitingNotification, _ reason: String) {
        guard notification.app == AppManifest.terminalID else { return }
        failWaiter(notification.identifier, "it could not be shown: \(reason)")
    }

    func failWaiter(_ identifier: String, _ reason: String) {
        guard let waiter = terminals.end(identifier) else { return }
        // A question without a terminal that waits must not appear later.
        enqueue(.unlisted(app: AppManifest.terminalID, identifiers: [identifier]))
        waiter.connection.send([.managed(request: waiter.request, .failed(message: reason))])
    }

    /// Tells the terminal that waits what a person did.
    ///
    /// - Returns: Whether the notification was a terminal's.
    func tellTerminal(_ notification: WaitingNotification, _ action: String, _ text: String?) -> Bool {
        guard notification.app == AppManifest.terminalID else { return false }
        if let waiter = terminals.end(notification.identifier) {
            waiter.connection.send([.managed(request: waiter.request, .answered(action: action, text: text))])
        }
        return true
    }
}
