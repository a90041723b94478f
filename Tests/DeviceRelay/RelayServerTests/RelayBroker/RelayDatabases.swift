import AldabaTestSupport
import GRDB
import Logging
import PostgresTestSupport
import PushServer
import SQLiteStore
import Testing

@testable import RelayServer

/// Runs each test of a suite with a database in a file, and with one in each installed version of PostgreSQL.
struct EachRelayDatabase: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard testCase != nil else { return }
        for version in PostgresServer.current.keys {
            try await RelayDatabases.$version.withValue(version) { try await function() }
        }
    }
}

enum RelayDatabases {
    /// The version of PostgreSQL that the test uses; `nil` for a file.
    @TaskLocal static var version: PostgresVersion?

    /// A database for the test, in a folder where it is a file.
    static func open(in folder: TemporaryFolder) throws -> RelayDatabase {
        guard let version else {
            return try RelayDatabase(path: folder.path("relay.sqlite"), logger: Logger(label: "test"))
        }
        let parameters = try PostgresServer.database(of: version)
        return RelayDatabase(in: PostgresServer.relay(of: parameters), logger: Logger(label: "test"))
    }
}

extension RelayDatabase {
    /// The file of the database.
    var file: WatchedDatabase<DatabasePool> {
        get throws { try #require(database as? SQLiteDatabase).pool }
    }
}
