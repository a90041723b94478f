import AgentProtocol

/// The messages of apps, their companions and terminals, and the order in which they are handled. A value: events go
/// in, directives come out.
///
/// Guarantees: the messages of a connection are handled in order, its end last of all; those of a refused connection
/// are dropped. Every request is added in the same way: examined, its files copied, examined again, stored. The files
/// of one app are copied one request at a time. Connections take turns in the order in which they came; further
/// messages of a connection are queued meanwhile. Nothing more is read from a connection while it waits, so that at
/// most one read of it is kept.
package struct AppConversations {
    /// The result of copying a request's files.
    package typealias CopyResult = Result<TakenAttachments, AttachmentError>

    /// A message of a connection, or the result of a directive.
    package enum Event {
        /// Messages that arrived in one read.
        case received([AppMessage])
        /// The connection has the role of ``Directive/admit(_:)``; with the requests of its run, where the run has a
        /// name.
        case admitted(CompletedRequests?)
        /// It was refused, and is being closed.
        case refused
        /// Nothing is wrong with the request of ``Directive/examine(_:)``.
        case approved
        /// The request of ``Directive/examine(_:)`` was refused.
        case disapproved
        /// The files of ``Directive/copy(_:)`` are copied, or cannot be.
        case copied(CopyResult)
        /// The connection is over.
        case closed
    }

    /// An action for the agent on a connection.
    package enum Directive: Sendable {
        /// Check whether the connection is what it claims, and answer with ``Event/admitted(_:)`` or ``Event/refused``.
        case admit(AppHello)
        /// Perform a message of the app, which is neither a request to add nor a
        /// ``AppMessage/hello(version:app:secret:run:role:)``.
        case perform(AppMessage, app: BundleID)
        /// Perform a message of the app's service extension.
        case performForExtension(AppMessage)
        /// Perform a command of a person at a terminal.
        case manage(ManagementCommand, request: Int64)
        /// Pass on a relay frame; without a role it is a terminal's.
        case relay([UInt8], AppRole?)
        /// See whether a request may be added, and answer with ``Event/approved``; or refuse it, and answer with
        /// ``Event/disapproved``. Without an answer the conversation goes on, and the request is forgotten.
        case examine(AddedRequest)
        /// Copy the files of a request without delaying other connections, and answer with ``Event/copied(_:)``.
        case copy(AddedRequest)
        /// Store a request, and confirm it when it is durable. The mark is that of its app's run; `replaced` are the
        /// files whose copies it names.
        case store(AddedRequest, mark: RequestMark?, replaced: [String])
        /// Answer that the files of a request cannot be taken.
        case refuseFiles(AddedRequest, AttachmentError)
        /// Delete copies that no request names.
        case drop([NotificationAttachment])
        /// Confirm a request that the app has asked before, when it is durable.
        case confirm(request: Int64)
        /// Send the reason, and close the connection.
        case refuse(code: String, message: String)
        /// Read on.
        case resume
        /// The connection is over, and all its messages are handled.
        case end
    }

    private enum State {
        case talking
        /// A directive was returned whose answer decides how it continues.
        case admitting
        case examining(AddedRequest, TakenAttachments?)
        case copying(AddedRequest)
        /// A directive is to be given.
        case approved(AddedRequest, TakenAttachments?)
        case copied(AddedRequest, CopyResult)
        case dropping([NotificationAttachment])
        /// It waits until another connection's files are copied.
        case waiting
        /// It was refused.
        case over
    }

    private struct Line {
        let connection: AppConnectionID
        var backlog: ArraySlice<AppMessage> = []
        var state = State.talking
        var asked: CompletedRequests?
        var isClosed = false
    }

    private var lines: [AppConnectionID: Line] = [:]
    /// Connections with messages to handle, in order.
    private var ready: [AppConnectionID] = []
    /// Connections that wait for the files of an app, in the order in which they came.
    private var waiting: [BundleID: [AppConnectionID]] = [:]

    /// Creates a collection without connections.
    package init() {}

    // MARK: Events

    /// Handles an event of a connection; ``next(role:)`` returns the directives that follow.
    package mutating func handle(_ event: Event, of connection: AppConnectionID) {
        let id = connection
        if case .received(let messages) = event {
            if case .over? = lines[id]?.state { return }
            lines[id, default: Line(connection: connection)].backlog += messages
            return beginTurn(of: id)
        }
        // The end of a connection without messages has no effect.
        guard let state = lines[id]?.state else { return }
        switch (event, state) {
        case (.admitted(let asked), _):
            lines[id]?.asked = asked
            lines[id]?.state = .talking
        case (.refused, .examining(_, let taken?)):
            lines[id]?.backlog = []
            lines[id]?.state = .dropping(taken.attachments)
        case (.refused, _): endTalk(of: id)
        case (.approved, .examining(let added, let taken)): lines[id]?.state = .approved(added, taken)
        case (.disapproved, .examining(_, let taken)): lines[id]?.state = .dropping(taken?.attachments ?? [])
        case (.copied(let result), .copying(let added)):
            lines[id]?.state = .copied(added, result)
            // Connections that waited come before further messages of this one.
            for waiter in waiting.removeValue(forKey: added.app) ?? [] {
                lines[waiter]?.state = .talking
                ready.append(waiter)
            }
            ready.append(id)
        case (.closed, let state):
            lines[id]?.isClosed = true
            if case .waiting = state { return }
            if case .copying = state { return }
            beginTurn(of: id)
        default: break
        }
    }

    private mutating func beginTurn(of id: AppConnectionID) {
        switch lines[id]?.state {
        case .waiting, .copying, nil: return
        default: if !ready.contains(id) { ready.append(id) }
        }
    }

    private mutating func endTalk(of id: AppConnectionID) {
        lines[id]?.state = .over
        lines[id]?.backlog = []
    }

    // MARK: Directives

    /// The next directive, and its connection; `nil` when all messages are handled, as far as they can be.
    ///
    /// - Parameter role: The role that a connection has now; `nil` before its hello, and once another has its role.
    package mutating func next(role: (AppConnectionID) -> AppRole?) -> (
        connection: AppConnectionID, directive: Directive
    )? {
        while let id = ready.first {
            guard let index = lines.index(forKey: id) else {
                ready.removeFirst()
                continue
            }
            let connection = lines.values[index].connection
            if let directive = step(id, place: index, role: role(connection)) { return (connection, directive) }
        }
        return nil
    }

    /// An index of ``lines``: the line is changed in place, and never copied with its backlog.
    private typealias Place = Dictionary<AppConnectionID, Line>.Index

    /// Handles one message of the connection that is next.
    private mutating func step(_ id: AppConnectionID, place: Place, role: AppRole?) -> Directive? {
        switch lines.values[place].state {
        case .talking, .over: return takeMessage(id, place: place, role: role)
        case .admitting: lines.values[place].state = .talking
        case .examining(_, let taken): lines.values[place].state = .dropping(taken?.attachments ?? [])
        case .dropping(let files):
            lines.values[place].state = .talking
            if !files.isEmpty { return .drop(files) }
        case .approved(let added, let taken): return approved(added, taken: taken, id: id)
        case .copied(let added, let result): return copied(added, result: result, id: id, role: role)
        case .waiting, .copying: ready.removeFirst()
        }
        return nil
    }

    private mutating func takeMessage(_ id: AppConnectionID, place: Place, role: AppRole?) -> Directive? {
        guard let message = lines.values[place].backlog.first else {
            ready.removeFirst()
            if lines.values[place].isClosed {
                lines[id] = nil
                return .end
            }
            if case .over = lines.values[place].state { return nil }
            return .resume
        }
        if let added = Self.added(by: message, role) {
            guard lines.values[place].asked?.done.contains(added.number) != true else {
                lines.values[place].backlog.removeFirst()
                return .confirm(request: added.number)
            }
            guard !added.hasFiles || !isCopying(of: added.app) else {
                ready.removeFirst()
                lines.values[place].state = .waiting
                waiting[added.app, default: []].append(id)
                return nil
            }
            lines.values[place].state = .examining(added, nil)
            lines.values[place].backlog.removeFirst()
            return .examine(added)
        }
        lines.values[place].backlog.removeFirst()
        let directive = Self.directive(for: message, role)
        switch directive {
        case .admit: lines.values[place].state = .admitting
        case .refuse: endTalk(of: id)
        default: break
        }
        return directive
    }

    private func isCopying(of app: BundleID) -> Bool {
        lines.values.contains { line in
            guard case .copying(let added) = line.state else { return false }
            return added.app == app
        }
    }

    private mutating func approved(
        _ added: AddedRequest, taken: TakenAttachments?, id: AppConnectionID
    ) -> Directive {
        guard taken != nil || !added.hasFiles else {
            lines[id]?.state = .copying(added)
            ready.removeFirst()
            return .copy(added)
        }
        lines[id]?.state = .talking
        let mark = lines[id]?.asked?.begin(added.number)
        return .store(added, mark: mark, replaced: taken?.sources ?? [])
    }

    /// Examines a request again after its files were copied, since its conditions may have changed meanwhile.
    private mutating func copied(
        _ added: AddedRequest, result: CopyResult, id: AppConnectionID, role: AppRole?
    ) -> Directive? {
        switch result {
        case .failure(let fault):
            lines[id]?.state = .talking
            return .refuseFiles(added, fault)
        case .success(let taken):
            // An app that has another connection by now asks again on that one.
            if case .app(let app) = added.asker, role?.app != app {
                lines[id]?.state = .dropping(taken.attachments)
                return nil
            }
            var kept = added
            kept.request.content.attachments = taken.attachments
            lines[id]?.state = .examining(kept, taken)
            return .examine(kept)
        }
    }
}
