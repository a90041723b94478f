import GRDB
import Synchronization

/// Whether one of the server's databases can be used: yes, until a first fault is noted, which then stays. Thread-safe.
package final class DatabaseHealth: Sendable {
    private struct State {
        var fault: DatabaseFault?
        /// Tasks that wait for a fault; each is there once for the whole run of a server.
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    /// The database.
    package let database: ServerDatabase
    /// The file's path.
    package let path: String
    private let state: Mutex<State>
    /// Asked before each access, on the hot path too.
    private let isFaulty: Atomic<Bool>
    private let noted: @Sendable (DatabaseFault) -> Void

    /// The health of a database.
    ///
    /// - Parameters:
    ///   - fault: A fault that is known already; `noted` is not told of it.
    ///   - noted: Told once, of the first fault, by whoever meets it.
    package init(
        _ database: ServerDatabase, path: String, fault: DatabaseFault? = nil,
        noted: @escaping @Sendable (DatabaseFault) -> Void = { _ in }
    ) {
        self.database = database
        self.path = path
        state = Mutex(State(fault: fault))
        isFaulty = Atomic(fault != nil)
        self.noted = noted
    }

    /// The first fault; `nil` while the database can be used.
    package var fault: DatabaseFault? { isFaulty.load(ordering: .acquiring) ? state.withLock { $0.fault } : nil }

    /// Requires that no fault was found.
    ///
    /// - Throws: the fault, where there is one.
    package func requireSound() throws(DatabaseFault) {
        if let fault { throw fault }
    }

    /// Records a fault, unless there is one already.
    package func recordFault(_ kind: DatabaseFault.Kind) {
        let fault = DatabaseFault(database, path: path, kind)
        let waiting = state.withLock { state -> [AsyncStream<Void>.Continuation]? in
            guard state.fault == nil else { return nil }
            state.fault = fault
            isFaulty.store(true, ordering: .releasing)
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return }
        noted(fault)
        for continuation in waiting { continuation.finish() }
    }

    /// Judges an error that an access has thrown: damage is noted.
    ///
    /// - Returns: The error to be thrown on: the fault in the place of damage, else the error itself.
    package func judged(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError, error.isDamage else { return error }
        recordFault(.damaged(error.reason))
        return fault ?? error
    }

    /// Suspends until there is a fault, or the task is cancelled.
    package func waitForFault() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let isFaulty = state.withLock { state in
            if state.fault == nil { state.waiting.append(continuation) }
            return state.fault != nil
        }
        guard !isFaulty else { return }
        for await _ in stream {}
    }
}
