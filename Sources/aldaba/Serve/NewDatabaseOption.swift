import AldabaConfiguration
import ArgumentParser
import SQLiteStore

extension ServerDatabase: ExpressibleByArgument {}

/// The databases that a command may begin anew where a data folder has lost them.
struct NewDatabaseOption: ParsableArguments {
    @Option(
        name: .customLong("new-database"),
        help: ArgumentHelp(
            "Begin a database anew that the data folder has lost: server, hub or relay. One that has its file stays.",
            valueName: "name"))
    var databases: [ServerDatabase] = []

    /// Lets those be begun anew that are missing or empty.
    func begin(_ folder: DataFolder) throws { try KnownDatabases(folder).beginAnew(databases) }
}
