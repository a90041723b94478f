import AgentEngine
import AgentProtocol
import PushCore

/// Handling of commands that a person enters at a terminal. Only connections of the `aldaba` program itself are
/// answered. `ManagementCommandHandler` makes the answers; the engine performs its orders.
extension Agent {
    /// - Returns: Whether the connection may go on.
    func manage(_ command: ManagementCommand, _ request: Int64, _ connection: AppConnection) -> Bool {
        guard mayManage(connection) else { return false }
        do {
            flush()
            // A person may have installed an app just now.
            try loadApps()
            switch try desk.take(command) {
            case .answer(let answer)?: connection.send([.managed(request: request, answer)])
            case .order(let order)?:
                let answer = decide { $0.execute(order, $1) } ? durable() : .done
                connection.send([.managed(request: request, answer)])
            // A conversation has it examined and stored (`AppConversations`).
            case nil: break
            }
            return true
        } catch {
            refuse(connection, error)
            return false
        }
    }

    private func refuse(_ connection: AppConnection, _ error: any Error) {
        storeFailed(error)
        connection.refuse(code: "storeFailed", message: "the agent's store: \(error)")
    }

    func mayManage(_ connection: AppConnection) -> Bool {
        if parts.peerCheck.isOwn(connection.peer) { return true }
        connection.refuse(code: "notAllowed", message: "only the aldaba program itself may manage the agent")
        return false
    }

    /// The handler of terminals' commands, with the present state. Pending changes must be committed before.
    var desk: ManagementCommandHandler {
        let context = self.context
        return ManagementCommandHandler(
            registry: registry, store: store, schedule: engine.schedule,
            surroundings: engine.scheduleSurroundings(context),
            circumstances: ManagementCommandHandler.AgentSnapshot(
                isConnected: context.isConnected, hasServer: link != nil, hasScreen: context.hasScreen,
                screenFault: parts.presenter.screenFault, quietHours: engine.surroundings.quietHours,
                positionSource: parts.positions?.name,
                extensions: { [counts = extensions.counts] in counts.versions(of: $0) },
                environment: configuration.environment))
    }

    /// Commits the batch, and answers whether the change is on the disk.
    private func durable() -> ManagementAnswer {
        let isKeptAfterFailure = engine.batch.holdsWhatIsKept
        guard !flush() else { return .done }
        return .failed(
            message: isKeptAfterFailure
                ? "the agent's store does not take it now; it goes on trying, see its log"
                : "the agent's store does not take it, so it was not done; see the agent's log")
    }

    // MARK: Notifications of the terminal's own

    /// Returns whether a notification of the terminal's may be shown; answers one that may not.
    func examine(
        _ added: AddedRequest, waits: Bool, _ connection: AppConnection
    ) -> AppConversations.Event {
        guard mayManage(connection) else { return .refused }
        do {
            guard let fault = try fault(of: added.request, waits: waits) else { return .approved }
            connection.send([.managed(request: added.number, .failed(message: fault))])
            return .disapproved
        } catch {
            refuse(connection, error)
            return .refused
        }
    }

    func fault(of request: NotificationRequest, waits: Bool) throws -> String? {
        flush()
        guard let conditions = try engine.notifyConditions(of: request, context) else {
            return "the agent has not read its store yet"
        }
        return try desk.fault(of: request, waits: waits, conditions)
    }

    /// Shows a notification of the terminal's, or has it wait for its time or place.
    ///
    /// - Returns: The answer; `nil` for a terminal that waits for what a person does.
    func notify(_ request: NotificationRequest, _ terminal: Confirmation, waits: Bool) -> ManagementAnswer? {
        decide { $0.notify(request, terminal, waits: waits, $1) }
        guard request.trigger != nil else { return waits ? nil : durable() }
        let answer = durable()
        return answer == .done ? desk.answer(toWaiting: request.identifier) : answer
    }
}
