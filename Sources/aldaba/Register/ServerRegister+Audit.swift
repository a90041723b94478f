import AldabaConfiguration
import Glibc
import PostgresStore
import PushCore
import PushServer
import SQLiteStore

/// An object before or after a change, as the audit log has it.
struct AuditedObject {
    /// The object's name or id, where it gets one by the change.
    var name: String?
    /// The team that owns the object.
    var team: TeamID?
    /// The object's document; the log has it without its secrets.
    var document: (any Encodable)?

    /// Describes an object.
    init(name: String? = nil, team: TeamID? = nil, _ document: (any Encodable)? = nil) {
        self.name = name
        self.team = team
        self.document = document
    }
}

extension ServerRegister {
    /// Makes a change in a data folder's store, with its entry in the audit log around it.
    ///
    /// - Parameters:
    ///   - makesFolder: Whether the folder and its store are made where there never were any.
    ///   - before: Reads the object before the change.
    ///   - after: Describes the object by the result of the change.
    /// - Throws: ``CommandError`` where the entry cannot be written; nothing is changed then.
    static func changing<Result>(
        _ folder: DataFolder, _ change: AuditChange, makesFolder: Bool = false,
        before: (any ServerStore) async throws -> AuditedObject? = { _ in nil },
        after: (Result) -> AuditedObject? = { _ in nil }, _ body: (any ServerStore) async throws -> Result
    ) async throws -> Result {
        func make(_ store: any ServerStore) async throws -> Result {
            let result = try await audited(change, in: store, before: before(store), after: after) {
                try await body(store)
            }
            if change.action.endsAccess, let store = store as? PostgresStore, let told = await waitForServers(store) {
                Terminal.printError(told)
            }
            return result
        }
        return makesFolder ? try await withStore(folder, make) : try await readingStore(folder, make)
    }

    /// Makes a change as ``changing(_:_:makesFolder:before:after:_:)`` does, in a store that is open.
    static func audited<Result>(
        _ change: AuditChange, in store: any ServerStore, before: AuditedObject? = nil,
        after: (Result) -> AuditedObject? = { _ in nil }, _ body: () async throws -> Result
    ) async throws -> Result {
        let log = AuditLog(store: store.audit, clock: presentTime)
        var change = change
        change.team = change.team ?? before?.team?.rawValue
        let number: Int64
        do {
            number = try await log.begin(change, by: user, from: .command, before: tree(before))
        } catch { throw CommandError(.failed, "nothing was changed, since the audit log cannot be written: \(error)") }
        let result: Result
        do { result = try await body() } catch {
            // The reason of the refusal matters more than a log that says nothing of it.
            try? await log.end(number, error is CommandError || error is RegisterError ? .refused : .failed)
            throw error
        }
        do {
            let made = after(result)
            let object = made?.name.map { change.object.isEmpty ? $0 : "\(change.object)/\($0)" }
            try await log.end(number, .done, object: object, after: tree(made))
        } catch {
            throw CommandError(.partlyDone, "the change was made, but the audit log does not say so: \(error)")
        }
        return result
    }

    /// The user of the operating system who runs the command.
    private static var user: AuditActor {
        let number = getuid()
        return .user(
            name: getpwuid(number).map { String(cString: $0.pointee.pw_name) } ?? String(number), number: number)
    }

    private static func tree(_ object: AuditedObject?) throws -> JSONValue? {
        try object?.document.map { try JSONValue(text: JSONLine.of($0)) }
    }
}
