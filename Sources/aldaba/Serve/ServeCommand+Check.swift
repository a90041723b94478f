import AldabaConfiguration
import NATSCarrier
import NIOPosix
import PostgresStore

extension ServeCommand {
    /// Looks at what a server with a configuration would use, whose values are right by themselves.
    ///
    /// - Throws: ``CommandError`` with everything that is wrong.
    static func check(_ configuration: ServerConfiguration) async throws {
        try configuration.requireDevelopment(of: [.acceptAnyCredential, .acceptAnyToken])
        if let address = configuration.values.text(.postgres) {
            let inspection = try PostgresInspection(["dbname": address])
            guard inspection.faults.isEmpty else {
                throw CommandError(.invalidInput, inspection.faults.map(\.description).joined(separator: "\n"))
            }
            print(Terminal.text(inspection.summary))
        }
        if let address = try NodeParts.address(configuration.values) {
            let faults = await NATSProbe.faults(of: address)
            guard faults.isEmpty else { throw CommandError(.invalidInput, faults.joined(separator: "\n")) }
        }
        if let bucket = try configuration.values.mediaBucket(),
            let fault = try await NIOThreadPool.singleton.runIfActive({ bucket.fault() })
        {
            throw CommandError(.invalidInput, fault)
        }
        print(Terminal.text("the settings can be used"))
    }
}
