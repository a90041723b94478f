import AgentEngine
import AgentProtocol
import Logging
import NIOPosix
import Networking
import PushCore

/// Handling of messages from apps, their companions and terminals. `AppConversations` decides the order in which they
/// are handled; this extension performs its directives.
extension Agent {
    func received(_ messages: [AppMessage], from connection: AppConnection) {
        connections[connection.id] = connection
        converse(.received(messages), connection)
    }

    func closed(_ connection: AppConnection) { converse(.closed, connection) }

    private func converse(_ event: AppConversations.Event, _ connection: AppConnection) {
        conversations.handle(event, of: connection.id)
        while let (speaker, directive) = conversations.next(role: { role(of: $0) }) {
            guard let connection = connections[speaker] else { continue }
            do {
                if let event = try follow(directive, of: connection) { conversations.handle(event, of: speaker) }
            } catch {
                storeFailed(error)
            }
        }
    }

    /// The role of a connection, as an app, a companion or an extension; `nil` before its hello.
    private func role(of id: AppConnectionID) -> AppRole? {
        registry.role(of: id) ?? connections[id].flatMap { extensions.role(of: $0) }
    }

    /// - Returns: The event with which the conversation must be answered; `nil` for none.
    private func follow(
        _ directive: AppConversations.Directive, of connection: AppConnection
    ) throws -> AppConversations.Event? {
        switch directive {
        case .admit(let hello): return admit(connection, hello)
        case .perform(let message, let app):
            if message.isAnsweredFromStore { flush() }
            try decide { try $0.perform(message, from: app, connection: connection.id, context: $1) }
        case .performForExtension(let message): return takeExtensionMessage(message, from: connection) ? nil : .refused
        case .manage(let command, let request):
            return manage(command, request: request, connection: connection) ? nil : .refused
        case .relay(let frame, let role): return takeRelay(frame, role: role, connection: connection) ? nil : .refused
        case .examine(let added):
            switch added.asker {
            case .app(let app):
                // The places that are counted must be in the store.
                if case .region? = added.request.trigger { flush() }
                return try decide { try $0.examine(added, of: app, connection: connection.id, context: $1) }
            case .terminal(let waits): return examine(added, waits: waits, connection)
            }
        case .copy(let added): copyFiles(of: added, connection)
        case .store(let added, let mark, let replaced):
            store(added, mark: mark, replaced: replaced, connection: connection)
        case .refuseFiles(let added, let fault):
            decide { engine, _ in engine.refuseFiles(of: added, code: fault.code, fault.message, connection.id) }
        case .drop(let files): attachments.drop(files)
        case .confirm(let request):
            decide { engine, _ in engine.confirm(Confirmation(connection: connection.id, request: request)) }
        case .refuse(let code, let message): connection.refuse(code: code, message: message)
        case .resume: connection.resume()
        case .end: endConnection(connection)
        }
        return nil
    }

    private func endConnection(_ connection: AppConnection) {
        defer { connections[connection.id] = nil }
        onRelay { $0.removeClient(connection.id) }
        decide { engine, _ in engine.forgetAsker(connection.id) }
        if let event = extensions.close(connection) { return updateExtensions(event) }
        decide { $0.disconnect(connection.id, $1) }
    }

    // MARK: The beginning

    /// Gives a connection the role that it asks for, or refuses it.
    private func admit(_ connection: AppConnection, _ hello: AppHello) -> AppConversations.Event {
        do {
            return try accept(connection, hello)
        } catch {
            storeFailed(error)
            connection.refuse(code: "storeFailed", message: "the agent's store cannot be read; try again")
            return .refused
        }
    }

    private func accept(
        _ connection: AppConnection, _ hello: AppHello
    ) throws -> AppConversations.Event {
        let app = hello.sender.app
        // A manifest may be new or another, and an installed app may have been built elsewhere since.
        try loadApps()
        guard let manifest = apps[app]?.manifest else {
            connection.refuse(
                code: "unknownApp",
                message: "no app \(app) is installed; install its manifest: aldaba agent app install MANIFEST")
            return .refused
        }
        if hello.sender.role == .serviceExtension, openExtension(connection, of: app) { return .admitted(nil) }
        if let fault = fault(of: connection, as: manifest, hello.secret) {
            logger.warning(
                "A process that is not the app was refused.",
                metadata: [LogKey.topic: "\(app)", LogKey.error: "\(fault)"])
            connection.refuse(code: "notThisApp", message: "this process is not \(app): \(fault)")
            return .refused
        }
        guard hello.sender.role == .app else {
            decide { engine, _ in engine.connectCompanion(hello.sender, connection.id) }
            return .admitted(nil)
        }
        decide { $0.beginRun(hello.run, of: app, connection: connection.id, context: $1) }
        flush()
        return .admitted(try decide { try $0.connectApp(app, connection: connection.id, run: hello.run, context: $1) })
    }

    private func fault(of connection: AppConnection, as manifest: AppManifest, _ secret: String?) -> String? {
        let expected = manifest.provesBySecret ? AppFolder(path: configuration.appsFolder).secret(of: manifest.id) : nil
        return parts.peerCheck.fault(of: connection.peer, as: manifest, secret: secret, expected: expected)
    }

    // MARK: Requests that are added

    private func store(
        _ added: AddedRequest, mark: RequestMark?, replaced: [String], connection: AppConnection
    ) {
        let waiting = Confirmation(connection: connection.id, request: added.number)
        switch added.asker {
        case .app(let app):
            decide {
                $0.batch.delete(replaced)
                $0.addRequest(added.request, as: mark, app: app, $1)
                $0.confirm(waiting)
            }
        case .terminal(let waits):
            guard let answer = notify(added.request, waiting, waits: waits) else { return }
            connection.send([.managed(request: added.number, answer)])
        }
    }

    /// Copies files on a thread that may wait for the disk.
    private func copyFiles(of added: AddedRequest, _ connection: AppConnection) {
        let store = attachments
        let bundle = (apps[added.app]?.manifest).map(AppBundle.init)
        NIOThreadPool.singleton.submit { [weak self] state in
            guard case .active = state, let self else { return }
            let result = AppConversations.CopyResult { () throws(AttachmentError) in
                try store.take(
                    added.request.content.attachments, of: added.app, bundle: bundle,
                    named: { try self.loop.submit { try self.namedFiles() }.wait() })
            }
            self.enter { $0.converse(.copied(result), connection) }
        }
    }

    /// The files that notifications name; called on the agent's loop.
    nonisolated func namedFiles() throws -> Set<String> {
        try assumeIsolated { agent in
            // Changes that are not committed yet name files too.
            agent.flush()
            return try agent.store.read { try $0.attachmentPaths() }
        }
    }
}
