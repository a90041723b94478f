import AgentWire
import AppConnections
import Attachments
import DeviceStore
import NIOPosix

/// Files that come with notifications. They are copied on a thread that may wait for the disk. Later messages of the same
/// connection, and its end, wait until the copy is made: messages take effect in their order.
extension Agent {
    typealias CopyResult = Result<AttachmentStore.Taken, AttachmentFault>

    var attachments: AttachmentStore { AttachmentStore(folder: configuration.attachmentsFolder) }

    /// A request with files.
    ///
    /// - Returns: Whether they are being copied now; else it was answered at once.
    func takeFiles(
        of request: NotificationRequest, _ number: Int64, app: String, _ connection: AppConnection
    ) throws -> Bool {
        if isDone(number, of: app) {
            confirm(Confirmation(connection: connection, request: number))
            return false
        }
        if let refusal = try refusal(of: request, app: app) {
            connection.send([.centerAnswered(request: number, refusal)])
            return false
        }
        copy(request.content.attachments, of: app, from: connection) { agent, result in
            agent.finishAdd(result, for: request, number, app: app, connection)
        }
        return true
    }

    /// - Parameter then: Called on the agent's loop, before what the connection said meanwhile.
    func copy(
        _ files: [NotificationAttachment], of app: String, from connection: AppConnection,
        then finish: @escaping @Sendable (isolated Agent, CopyResult) -> Void
    ) {
        copies.begin(connection, of: app)
        let store = attachments
        NIOThreadPool.singleton.submit { [weak self] state in
            guard case .active = state, let self else { return }
            let result = CopyResult { () throws(AttachmentFault) in
                try store.take(files, of: app, named: { try self.loop.submit { try self.namedFiles() }.wait() })
            }
            self.enter { agent in
                finish(agent, result)
                agent.finishCopy(of: connection)
            }
        }
    }

    /// The files that notifications name; called on the agent's loop.
    private nonisolated func namedFiles() throws -> Set<String> {
        try assumeIsolated { agent in
            // What is on its way to the store names files too.
            agent.flush()
            return try agent.store.read { try $0.attachmentPaths() }
        }
    }

    private func finishAdd(
        _ files: CopyResult, for request: NotificationRequest, _ number: Int64, app: String,
        _ connection: AppConnection
    ) {
        // An app that has another connection by now asks again on that one. Of a removed app nothing is kept.
        guard self.app(of: connection) == app, apps[app] != nil else {
            return attachments.drop((try? files.get())?.attachments ?? [])
        }
        switch files {
        case .success(let taken):
            var kept = request
            kept.content.attachments = taken.attachments
            batch.delete(taken.sources)
            addRequest(kept, number, app: app)
            confirm(Confirmation(connection: connection, request: number))
        case .failure(let fault):
            connection.send([.centerAnswered(request: number, .failed(code: fault.code, message: fault.message))])
        }
    }

    private func finishCopy(of connection: AppConnection) {
        guard let queue = copies.finish(connection) else { return }
        // Connections that have waited come before what this one may still bring.
        beginNext(of: queue.app)
        processMessages(queue.messages, from: connection)
        if queue.isClosed { closed(connection) }
        beginNext(of: queue.app)
    }

    /// Processes the messages of the connections that wait, in their order, until files are being copied again.
    private func beginNext(of app: String) {
        while let next = copies.next(of: app) {
            processMessages(next.messages, from: next.connection)
            if next.isClosed { closed(next.connection) }
        }
    }
}
