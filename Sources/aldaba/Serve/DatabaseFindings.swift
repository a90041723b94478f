import AgentRuntime
import AldabaConfiguration
import Glibc
import HubServer
import PostgresStore
import RelayServer
import SQLiteStore

/// The state of each database of a data folder, as `doctor` tells it. The files are read whole, and nothing is changed.
enum DatabaseFindings {
    /// A finding for each database that the folder has or has had; the agent's, which is none of the server's, is last.
    static func all(of folder: DataFolder) -> [(database: ServerDatabase?, finding: Finding)] {
        let inspections = [
            (ServerDatabase.server, SQLiteStore.inspection), (.hub, HubDatabase.inspection),
            (.relay, RelayDatabase.inspection),
        ]
        let postgres = postgres(of: folder).map { (Optional(ServerDatabase.server), $0) }
        let moved: [ServerDatabase] = postgres.isEmpty ? [] : [.server, .hub, .relay]
        let found = inspections.filter { !moved.contains($0.0) }.compactMap { database, inspection in
            finding(database, of: folder, inspection).map { (Optional(database), $0) }
        }
        return postgres + found + [agent(folder).map { (nil, $0) }].compactMap(\.self)
    }

    /// The findings on the PostgreSQL database that the folder names; none where it has a database of its own.
    private static func postgres(of folder: DataFolder) -> [Finding] {
        do {
            guard let address = try FolderStore.address(in: folder) else { return [] }
            let inspection = try PostgresInspection(["dbname": address])
            let faults = inspection.faults.map {
                Finding(what: "PostgreSQL's \($0.setting) is \($0.value)", remedy: $0.remedy, isProblem: true)
            }
            return [Finding(what: inspection.summary)] + faults
        } catch {
            return [
                Finding(
                    what: "PostgreSQL cannot be used: \(error)",
                    remedy: "see that it runs, and that this user may reach it (\(folder.postgres))", isProblem: true)
            ]
        }
    }

    /// - Returns: `nil` where the folder never had the database.
    private static func finding(
        _ database: ServerDatabase, of folder: DataFolder, _ inspection: (String) -> DatabaseInspection
    ) -> Finding? {
        let known = KnownDatabases(folder)
        let path = known.path(of: database)
        do {
            if database == .server, try FolderStore.address(in: folder) != nil { return nil }
            try known.requireNotLost(database)
            guard access(path, F_OK) == 0 else { return nil }
            _ = try inspection(path).begin(limit: .max)
            return Finding(what: "database \(path): in order")
        } catch let fault as DatabaseFault {
            return Finding(what: fault.finding, remedy: fault.remedy, isProblem: true)
        } catch {
            return Finding(what: "database \(path): \(error)", remedy: "make the folder readable", isProblem: true)
        }
    }

    private static func agent(_ folder: DataFolder) -> Finding? {
        let path = folder.root + "/agent.sqlite"
        guard access(path, F_OK) == 0 else { return nil }
        guard let fault = AgentStore.fault(path: path) else { return Finding(what: "database \(path): in order") }
        return Finding(
            what: "the agent's database \(path) cannot be used: \(fault)",
            remedy: "start the agent again: it puts a damaged file aside by itself, begins a new one, and enrols anew",
            isProblem: true)
    }
}
