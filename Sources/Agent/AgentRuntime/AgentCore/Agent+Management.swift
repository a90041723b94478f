import AgentEngine
import AgentProtocol
import Logging
import Networking
import PushCore

/// Handling of commands that a person enters at a terminal. Only connections of the `aldaba` program itself are
/// answered. `ManagementCommandHandler` makes the answers; the engine performs its orders.
extension Agent {
    /// - Returns: Whether the connection may go on.
    func manage(_ command: ManagementCommand, request: Int64, connection: AppConnection) -> Bool {
        guard mayManage(connection) else { return false }
        do {
            flush()
            // A person may have installed an app just now.
            try loadApps()
            switch try commandHandler.take(command) {
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
    var commandHandler: ManagementCommandHandler {
        let context = self.context
        var snapshot = ManagementCommandHandler.AgentSnapshot(
            isConnected: context.isConnected, hasServer: link != nil, hasScreen: context.hasScreen,
            screenFault: parts.presenter.screenFault, quietHours: engine.screenAndQuietHours.quietHours,
            positionSource: parts.positions?.name,
            extensions: { [counts = extensions.counts] in counts.versions(of: $0) },
            environment: configuration.environment)
        (snapshot.serverFault, snapshot.unknownApps) = onLink { ($0.fault, $0.unknownApps) } ?? (nil, [])
        return ManagementCommandHandler(
            registry: registry, store: store, schedule: engine.schedule,
            scheduleContext: engine.scheduleContext(context),
            circumstances: snapshot)
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
        return try commandHandler.fault(of: request, waits: waits, conditions)
    }

    /// Shows a notification of the terminal's, or has it wait for its time or place.
    ///
    /// - Returns: The answer; `nil` for a terminal that waits for what a person does.
    func notify(_ request: NotificationRequest, _ terminal: Confirmation, waits: Bool) -> ManagementAnswer? {
        decide { $0.notify(request, terminal: terminal, waits: waits, context: $1) }
        guard request.trigger != nil else { return waits ? nil : durable() }
        let answer = durable()
        return answer == .done ? commandHandler.answer(toWaiting: request.identifier) : answer
    }
}

/// Notifications queued for service extensions. A notification is stored and acknowledged before it is sent to its
/// extension. Until the extension has answered, the notification is neither delivered to its app nor shown. Afterwards
/// it is planned again, with the content from the extension's answer.
extension Agent {
    /// Takes up what waits in the store: at the agent's start, and a while after the store had failed.
    func loadExtending() {
        extensions.isToBeLoaded = false
        do {
            for (id, app) in try store.read({ try $0.extending() }) { updateExtensions(.arrived(id, app: app)) }
        } catch {
            logger.error("What waits for service extensions could not be read.", metadata: [LogKey.error: "\(error)"])
            loadExtendingLater()
        }
    }

    func loadExtendingLater() {
        if extensions.schedulesLoad() { enter(after: timing.storePause) { $0.loadExtending() } }
    }

    /// Passes an event to the queue, and performs its directives.
    func updateExtensions(_ event: ExtensionQueue.Event) {
        let now = Duration.milliseconds(parts.clock.now().sinceBoot)
        let directives = extensions.handle(
            event, now: now, socketPath: configuration.socketPath, manifest: { [apps] in apps[$0]?.manifest })
        if let deadline = extensions.deadlineToArm() {
            enter(after: max(.zero, deadline - now) + .milliseconds(1)) { agent in
                if agent.extensions.takeTimer(deadline) { agent.updateExtensions(.timePassed) }
            }
        }
        for directive in directives {
            switch directive {
            case .extend(let id, let process): extend(id, process)
            case .finish(let id, app: let app, let result, let duration):
                CheckedExtension.check(
                    result, of: app, bundle: (apps[app]?.manifest).map(AppBundle.init), into: attachments,
                    named: { [self] in try loop.submit { try self.namedFiles() }.wait() },
                    then: { [weak self] checked in self?.enter { $0.release(id, of: app, checked, after: duration) } })
            }
        }
    }

    private func extend(_ id: NotificationID, _ process: Int) {
        do {
            guard let waiting = try store.read({ try $0.extending(id) }) else {
                return updateExtensions(.answered(process, id, .unchanged))  // Its app was removed meanwhile.
            }
            extensions.send(registry.delivered(waiting), to: process)
        } catch {
            storeFailed(error)
            updateExtensions(.answered(process, id, .unsendable(reason: "the agent's store could not be read")))
        }
    }

    /// - Returns: Whether the connection is that of an extension which the agent started.
    func openExtension(_ connection: AppConnection, of app: BundleID) -> Bool {
        guard let event = extensions.open(connection, of: app, user: parts.peerCheck.user) else { return false }
        decide { engine, _ in engine.welcomeExtension(connection.id, of: app) }
        updateExtensions(event)
        return true
    }

    /// - Returns: Whether the connection goes on.
    func takeExtensionMessage(_ message: AppMessage, from connection: AppConnection) -> Bool {
        switch extensions.take(message, from: connection) {
        case .event(let event): updateExtensions(event)
        case .center(let command, let request, let app):
            if message.isAnsweredFromStore { flush() }
            decide {
                $0.handleCenterCommand(command, request: request, from: app, connection: connection.id, context: $1)
            }
        case .settings(let request, let app):
            decide { engine, _ in engine.giveSettings(request, of: app, to: connection.id) }
        case .nothing: break
        case .refused: return false
        case nil:
            decide { engine, _ in
                engine.refuseUnstarted(connection.id, of: engine.registry.role(of: connection.id)?.app)
            }
            return false
        }
        return true
    }

    /// Stores a notification as it appears, by what its extension made of it.
    private func release(_ id: NotificationID, of app: BundleID, _ checked: CheckedExtension, after duration: Duration)
    {
        defer { enter { $0.updateExtensions(.settled(id)) } }
        let files = checked.content?.attachments ?? []
        do {
            guard let waiting = try store.read({ try $0.extending(id) }) else { return attachments.drop(files) }
            guard let plan = decide({ $0.extended(waiting, content: checked.content, context: $1) }) else {
                attachments.drop(files)
                return loadExtendingLater()  // Its app's removal ends it, or its manifest comes back.
            }
            extensions.count(checked.outcome, of: app)
            engine.batch.delete(checked.sources)
            enqueue(
                .extended(
                    id, checked, by: extensions.version(of: app), as: plan, after: duration, at: parts.now()))
            flush()
        } catch {
            attachments.drop(files)
            storeFailed(error)
        }
    }
}
