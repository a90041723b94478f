import AldabaConfiguration
import ControlAPI
import Glibc
import HubServer
import Logging
import Networking
import Platform
import PushCore
import PushServer
import RelayServer
import SQLiteStore
import ServiceLifecycle

/// The databases of a server. Without its own it does not begin; each of the others takes down its system alone.
struct ServerDatabases: Sendable {
    let store: any ServerStore
    /// The server's own database as a file; `nil` where PostgreSQL has it.
    private let file: SQLiteStore?
    let hub: HubDatabase
    let relay: RelayDatabase
    /// Databases that are too large to be read whole before the server serves.
    let large: Set<ServerDatabase>
    private let known: KnownDatabases
    private let logger: Logger

    /// Looks at the databases of a data folder, and opens them.
    ///
    /// - Parameter isNode: Whether other servers use the PostgreSQL database too.
    /// - Throws: ``DatabaseFault`` of the server's own.
    init(_ folder: DataFolder, isNode: Bool, logger: Logger) throws {
        let known = KnownDatabases(folder)
        var large: Set<ServerDatabase> = []
        func health(_ database: ServerDatabase) -> DatabaseHealth {
            DatabaseHealth(database, path: known.path(of: database)) { fault in
                logger.critical("\(fault.database.system) cannot go on: \(fault)")
            }
        }
        func open<Store>(
            _ database: ServerDatabase, _ inspection: (String) -> DatabaseInspection, _ open: () throws -> Store
        ) throws -> Store {
            if try !known.inspect(database, inspection) { large.insert(database) }
            let store = try open()
            try known.add(database)
            return store
        }
        let (hubHealth, relayHealth) = (health(.hub), health(.relay))
        if let address = try FolderStore.address(in: folder) {
            file = nil
            let opened = try FolderStore.open(address, as: isNode ? .node : .alone) {
                logger.critical(
                    "another server has taken this server's number while PostgreSQL was away; this one ends")
                exit(CommandExit.failed.rawValue)
            }
            store = opened
            hub = HubDatabase(in: opened.hubs)
            if access(hubHealth.path, F_OK) == 0 {
                logger.warning("\(hubHealth.path) is not used: the hubs are in PostgreSQL")
            }
            relay = RelayDatabase(in: opened.relay, logger: logger)
            if access(relayHealth.path, F_OK) == 0 {
                logger.warning("\(relayHealth.path) is not used: the relay's accounts are in PostgreSQL")
            }
        } else {
            let path = known.path(of: .server)
            let opened = try open(.server, SQLiteStore.inspection) {
                try SQLiteStore(path: path, health: health(.server))
            }
            file = opened
            store = opened
            do {
                hub = try open(.hub, HubDatabase.inspection) {
                    try HubDatabase(path: hubHealth.path, health: hubHealth)
                }
            } catch {
                hubHealth.recordFault(DatabaseFault(.hub, opening: hubHealth.path, error).kind)
                hub = HubDatabase(unopened: hubHealth)
            }
            do {
                relay = try open(.relay, RelayDatabase.inspection) {
                    try RelayDatabase(path: relayHealth.path, health: relayHealth, logger: logger)
                }
            } catch {
                relayHealth.recordFault(DatabaseFault(.relay, opening: relayHealth.path, error).kind)
                relay = RelayDatabase(unopened: relayHealth, logger: logger)
            }
        }
        self.large = large
        self.known = known
        self.logger = logger
    }

    private var healths: [DatabaseHealth] {
        [file?.databaseHealth, hub.isShared ? nil : hub.health, relay.isShared ? nil : relay.health].compactMap(\.self)
    }

    /// The systems that stand still, as `/health` tells them.
    var faults: [SystemFault] {
        healths.compactMap(\.fault).map {
            SystemFault(
                system: $0.database.rawValue, file: $0.database.fileName, reason: $0.reason, remedy: $0.remedy)
        }
    }

    /// Whether each of them can be used, as metrics tell it.
    var samples: [MetricSample] {
        healths.map {
            MetricSample(
                .gauge, "aldaba_database_usable", [("database", $0.database.rawValue)], value: $0.fault == nil ? 1 : 0)
        }
    }

    /// Closes all of them; the server's own also where another cannot be closed.
    func close() throws {
        for close in [hub.close, relay.close] {
            do { try close() } catch {
                logger.error("a database could not be closed", metadata: [LogKey.error: "\(error)"])
            }
        }
        try store.close()
    }

    /// Reads the large ones whole, one after the other. Between two tables others have the disk for as long as that took.
    ///
    /// - Parameter goesOn: Asked after each table.
    func readLarge(while goesOn: () -> Bool) {
        let inspections = [
            (file?.databaseHealth, SQLiteStore.inspection), (hub.health, HubDatabase.inspection),
            (relay.health, RelayDatabase.inspection),
        ]
        for case (let health?, let inspection) in inspections
        where large.contains(health.database) && health.fault == nil {
            do {
                try inspection(health.path).readAll { took in
                    var nothing: [pollfd] = []
                    Pause.poll(&nothing, until: .now + took)
                    return goesOn() && health.fault == nil
                }
            } catch {
                guard case .damaged = error.kind else {
                    logger.warning("a database was not read whole: \(error)")
                    continue
                }
                health.recordFault(error.kind)
            }
        }
    }
}

/// Reads large databases whole once the server serves.
struct DatabaseReadingService: Service, CustomStringConvertible {
    let databases: ServerDatabases
    var description: String { "reading of large databases" }

    func run() async throws {
        let isOver = ReadyFlag()
        if !databases.large.isEmpty {
            NamedThread.begin("databases") { databases.readLarge { !isOver.isSet } }
        }
        try? await gracefulShutdown()
        isOver.set(true)
    }
}
