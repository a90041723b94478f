import AldabaConfiguration
import PostgresStore

extension ServeCommand {
    /// Looks at what a server with a configuration would use, whose values are right by themselves.
    ///
    /// - Throws: ``CommandError`` with everything that is wrong.
    static func check(_ configuration: ServerConfiguration) throws {
        try configuration.requireDevelopment(of: [.acceptAnyCredential, .acceptAnyToken])
        if let address = configuration.values.text(.postgres) {
            let inspection = try PostgresInspection(["dbname": address])
            let faults = inspection.faults.map { "PostgreSQL's \($0.setting) is \($0.value); \($0.remedy)" }
            guard faults.isEmpty else { throw CommandError(.invalidInput, faults.joined(separator: "\n")) }
            let standbys = inspection.standbys.isEmpty ? "none" : inspection.standbys
            print(Terminal.text("PostgreSQL \(inspection.version), synchronous standbys: \(standbys)"))
        }
        print(Terminal.text("the settings can be used"))
    }
}
