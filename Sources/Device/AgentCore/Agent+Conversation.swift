import AgentWire
import AppConnections
import AppConversation
import Attachments
import DeviceModel
import InstalledApps
import Logging
import NIOPosix
import Observability
import PushModel

/// What apps, their companions and terminals say. ``AppConversations`` decides; here its directives are followed.
extension Agent {
    func received(_ messages: [AppMessage], from connection: AppConnection) {
        converse(.received(messages), connection)
    }

    func closed(_ connection: AppConnection) { converse(.closed, connection) }

    private func converse(_ event: AppConversations<AppConnection>.Event, _ connection: AppConnection) {
        conversations.handle(event, of: connection)
        while let (speaker, directive) = conversations.next(role: { registry.role(of: $0) ?? extensions.role(of: $0) })
        {
            do {
                if let event = try follow(directive, of: speaker) { conversations.handle(event, of: speaker) }
            } catch {
                storeFailed(error)
            }
        }
    }

    /// - Returns: The event that the conversation must be told in answer; `nil` for none.
    private func follow(
        _ directive: AppConversations<AppConnection>.Directive, of connection: AppConnection
    ) throws -> AppConversations<AppConnection>.Event? {
        switch directive {
        case .admit(let hello): return admit(connection, hello)
        case .perform(let message, let app): try perform(message, from: app, connection)
        case .performForExtension(let message): return takeExtensionMessage(message, from: connection) ? nil : .refused
        case .manage(let command, let request): return manage(command, request, connection) ? nil : .refused
        case .relay(let frame, let role): return takeRelay(frame, role, connection) ? nil : .refused
        case .examine(let added): return try examine(added, connection)
        case .copy(let added): copyFiles(of: added, connection)
        case .store(let added, let mark, let replaced): try store(added, mark, replaced: replaced, connection)
        case .refuseFiles(let added, let fault): refuse(added, code: fault.code, fault.message, connection)
        case .drop(let files): attachments.drop(files)
        case .confirm(let request): confirm(Confirmation(connection: connection, request: request))
        case .refuse(let code, let message): connection.refuse(code: code, message: message)
        case .resume: connection.resume()
        case .end: ended(connection)
        }
        return nil
    }

    private func perform(_ message: AppMessage, from app: BundleID, _ connection: AppConnection) throws {
        switch message {
        case .ready:
            // The answers that came before it must be stored before what waits is read.
            flush()
            hand(.ready, to: app)
            supervise(.ready, app)
            tellDeletions(to: app)
            tellEnds(to: app)
        case .handled(let id, let outcome):
            hand(.handled(NotificationID(rawValue: id), outcome), to: app)
        case .responseHandled(let response):
            supervise(.responseHandled, app)
            hand(.responseHandled(response), to: app)
        case .deletionTaken(let deletion):
            enqueue(.deletionTaken(NotificationID(rawValue: deletion), app: app))
        case .requestAuthorization(let request, let options):
            askForAuthorization(request, options: options, app: app, connection)
        case .center(let request, let command): handleCenterCommand(command, request: request, from: app, connection)
        case .getSettings(let request): connection.send([.settings(request: request, settings(of: app))])
        case .registerForRemoteNotifications(let request): try giveToken(request, app: app, connection)
        case .unregisterForRemoteNotifications: endToken(of: app, connection)
        case .stateChanged(let state):
            // With the life cycle `always` a connected app is active, whatever it says.
            apps[app]?.enter(state)
        case .fetch(let request, _):
            let failure = MediaFailure(.refusedURL, "files are fetched for an app's service extension, not for the app")
            connection.send([.fetched(request: request, .failed(failure))])
        case .channel(let command): perform(command, from: app, connection)
        case .hello, .manage, .extended, .extensionFailed, .relay, .unknown:
            // A second hello changes nothing.
            break
        }
    }

    private func ended(_ connection: AppConnection) {
        onRelay { $0.ended(connection) }
        // Nobody takes the answer to a question whose terminal has gone.
        let unasked = terminals.remove { $0.connection === connection }
        if !unasked.isEmpty { enqueue(.unlisted(app: AppManifest.terminalID, identifiers: unasked)) }
        channelWaiters.remove { $0.connection === connection }
        questions.removeAskers { $0.connection === connection }
        if let event = extensions.close(connection) { return updateExtensions(event) }
        guard let closed = registry.disconnect(connection) else { return }
        let app = closed.app
        guard closed.role == .app else { return }
        startReconnectTimer(of: app)
        apps[app]?.tokenRequests = []
        hand(.disconnected, to: app)
        giveData(.reconnected, to: app)
        logger.info("An app has gone.", metadata: [LogKey.topic: "\(app)"])
    }

    // MARK: Requests that are added

    /// - Returns: What came of it; a request that is refused is answered.
    private func examine(
        _ added: AddedRequest, _ connection: AppConnection
    ) throws -> AppConversations<AppConnection>.Event {
        switch added.asker {
        case .app(let app):
            guard registry.role(of: connection)?.role != .serviceExtension else {
                refuseUnstarted(connection, of: app)
                return .refused
            }
            let installed = apps[app]
            let refusal = try RequestRules.refusal(
                of: added.request,
                authorization: installed.map { $0.record.authorization(under: $0.manifest.authorization) },
                triggerFault: { try fault(of: $0, of: added.request.identifier, app: app) })
            guard let refusal else { return .approved }
            connection.send([.centerAnswered(request: added.number, refusal)])
            return .disapproved
        case .terminal(let waits):
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
    }

    private func store(
        _ added: AddedRequest, _ mark: RequestMark?, replaced: [String], _ connection: AppConnection
    ) throws {
        let waiting = Confirmation(connection: connection, request: added.number)
        switch added.asker {
        case .app(let app):
            batch.delete(replaced)
            addRequest(added.request, as: mark, app: app)
            confirm(waiting)
        case .terminal(let waits):
            guard let answer = notify(added.request, waiting, waits: waits) else { return }
            connection.send([.managed(request: added.number, answer)])
        }
    }

    private func refuse(_ added: AddedRequest, code: Int, _ message: String, _ connection: AppConnection) {
        let answer: AgentMessage =
            switch added.asker {
            case .app: .centerAnswered(request: added.number, .failed(code: code, message: message))
            case .terminal: .managed(request: added.number, .failed(message: message))
            }
        connection.send([answer])
    }

    // MARK: Files

    /// Copies files on a thread that may wait for the disk.
    private func copyFiles(of added: AddedRequest, _ connection: AppConnection) {
        let store = attachments
        NIOThreadPool.singleton.submit { [weak self] state in
            guard case .active = state, let self else { return }
            let result = AppConversations<AppConnection>.CopyResult { () throws(AttachmentFault) in
                try store.take(
                    added.request.content.attachments, of: added.app,
                    named: { try self.loop.submit { try self.namedFiles() }.wait() })
            }
            self.enter { $0.converse(.copied(result), connection) }
        }
    }

    /// The files that notifications name; called on the agent's loop.
    nonisolated func namedFiles() throws -> Set<String> {
        try assumeIsolated { agent in
            // What is on its way to the store names files too.
            agent.flush()
            return try agent.store.read { try $0.attachmentPaths() }
        }
    }
}
