import AldabaTestSupport
import GRDB
import SQLiteStore
import StoreContract
import Testing

struct SQLiteDatabaseTests {
    private let folder: TemporaryFolder
    private let contract: SQLContract

    init() async throws {
        folder = try TemporaryFolder()
        let path = folder.path("hub.sqlite")
        contract = try await SQLContract(
            try SQLiteDatabase(
                .hub, path: path, migrator: DatabaseMigrator(), health: DatabaseHealth(.hub, path: path)))
    }

    @Test func `values come back as they were written`() async throws { try await contract.checkValues() }
    @Test func `a statement is executed for each list of parameters`() async throws {
        try await contract.checkStatements()
    }
    @Test func `a transaction changes all or nothing`() async throws { try await contract.checkTransactions() }
}
