import AgentEngine
import AgentProtocol
import Logging
import Networking
import PushCore

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
            case .finish(let id, let app, let result, let duration):
                CheckedExtension.check(
                    result, of: app, into: attachments,
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
        decide { engine, _ in engine.welcomeExtension(connection, of: app) }
        updateExtensions(event)
        return true
    }

    /// - Returns: Whether the connection goes on.
    func takeExtensionMessage(_ message: AppMessage, from connection: AppConnection) -> Bool {
        switch extensions.take(message, from: connection) {
        case .event(let event): updateExtensions(event)
        case .center(let command, let request, let app):
            if message.isAnsweredFromStore { flush() }
            decide { $0.handleCenterCommand(command, request: request, from: app, connection, $1) }
        case .settings(let request, let app):
            decide { engine, _ in engine.giveSettings(request, of: app, to: connection) }
        case .nothing: break
        case .refused: return false
        case nil:
            decide { engine, _ in engine.refuseUnstarted(connection, of: engine.registry.role(of: connection)?.app) }
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
            guard let plan = decide({ $0.extended(waiting, checked.content, $1) }) else {
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
