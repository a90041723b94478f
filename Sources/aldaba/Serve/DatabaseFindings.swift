import AgentRuntime
import AldabaConfiguration
import Glibc
import HubServer
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
        let found = inspections.compactMap { database, inspection in
            finding(database, of: folder, inspection).map { (Optional(database), $0) }
        }
        return found + [agent(folder).map { (nil, $0) }].compactMap(\.self)
    }

    /// - Returns: `nil` where the folder never had the database.
    private static func finding(
        _ database: ServerDatabase, of folder: DataFolder, _ inspection: (String) -> DatabaseInspection
    ) -> Finding? {
        let known = KnownDatabases(folder)
        let path = known.path(of: database)
        do {
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
