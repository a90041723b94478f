import Hummingbird
import NIOCore
import Networking
import Synchronization

/// One request under way: the caller that its work is counted for, and the connection that it came on.
///
/// The scope is the task executor of the request's handler. Until a credential was checked, the work is in the queue of
/// everybody without one; ``prove(_:key:)`` moves the rest to the caller's own queue.
package final class RequestScope: TaskExecutor {
    /// The scope of the request that the current task serves; `nil` outside of one.
    @TaskLocal package static var current: RequestScope?

    private let stored: Mutex<Caller>
    private let connection: (any Channel)?
    private let callers: ConnectionCredentials

    init(_ callers: ConnectionCredentials, connection: any Channel) {
        self.callers = callers
        self.connection = connection
        stored = Mutex(callers.caller(of: connection))
    }

    /// The caller that the request's work is counted for now.
    package var caller: Caller { stored.withLock { $0 } }

    /// Queues a part of the request's work.
    package func enqueue(_ job: consuming ExecutorJob) {
        FairWorkers.shared.enqueue(UnownedJob(job), of: caller, on: self)
    }

    /// Notes that the request has shown a valid credential.
    ///
    /// The connection is proven from now on, and later requests on it begin in the caller's queue. Where the caller is another
    /// than before, the task gives its thread back and goes on from the caller's queue.
    ///
    /// Every check of a credential calls this, and nothing else does. A request that is audited gets its entry here.
    ///
    /// - Parameter key: The name or id of the credential's key, for the audit log, where the check knows it.
    /// - Throws: The error of the audit log; the request must be refused then.
    package static func prove(_ caller: Caller, key: String? = nil) async throws {
        try await AuditScope.current?.begin(caller, key: key)
        guard let scope = current else { return }
        let isNew = scope.stored.withLock { stored in
            defer { stored = caller }
            return stored != caller
        }
        if let connection = scope.connection { scope.callers.prove(connection, caller) }
        if isNew { await Task.yield() }
    }
}

/// The callers of a listener's connections, by the credentials that they have shown. Thread-safe.
package final class ConnectionCredentials: Sendable {
    private let limiter: ConnectionLimiter
    private let proven = Mutex<[ObjectIdentifier: Caller]>([:])

    /// Callers of the connections that a limiter admits.
    package init(limiter: ConnectionLimiter) { self.limiter = limiter }

    /// The number of open connections that have shown a valid credential.
    package var count: Int { proven.withLock { $0.count } }

    func caller(of connection: any Channel) -> Caller {
        proven.withLock { $0[ObjectIdentifier(connection)] } ?? .unauthenticated
    }

    func prove(_ connection: any Channel, _ caller: Caller) {
        let id = ObjectIdentifier(connection)
        let known = proven.withLock { proven in
            defer { proven[id] = caller }
            return proven[id]
        }
        guard known == nil else { return }
        limiter.proven(connection)
        connection.closeFuture.whenComplete { [self] _ in proven.withLock { $0[id] = nil } }
    }

    /// Gives a connection without a credential the whole time again to show one, since a request on it was served.
    func served(_ connection: any Channel) {
        guard caller(of: connection) == .unauthenticated else { return }
        limiter.served(connection)
    }
}

/// Serves requests fairly: each caller's work has a queue of its own.
package struct FairService: RouterMiddleware {
    private let callers: ConnectionCredentials

    /// Serves the connections of a listener.
    package init(callers: ConnectionCredentials) { self.callers = callers }

    /// Runs the request's handler on the threads that callers share.
    package func handle(
        _ request: Request, context: ControlContext,
        next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let scope = RequestScope(callers, connection: context.channel)
        let response = try await RequestScope.$current.withValue(scope) {
            try await withTaskExecutorPreference(scope) { try await next(request, context) }
        }
        if response.status.code < 400, !["/health", "/ready"].contains(request.uri.path) {
            callers.served(context.channel)
        }
        return response
    }
}
