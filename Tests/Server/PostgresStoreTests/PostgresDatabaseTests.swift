import PostgresTestSupport
import PushServer
import StoreContract
import Testing

@testable import PostgresStore

extension PostgresTests {
    struct PostgresDatabaseTests {
        private func database() throws -> any SQLDatabase { PostgresServer.hubs(of: try PostgresServer.database()) }
        private func contract() async throws -> SQLContract { try await SQLContract(database()) }

        @Test func `values come back as they were written`() async throws { try await contract().checkValues() }
        @Test func `a statement is executed for each list of parameters`() async throws {
            try await contract().checkStatements()
        }
        @Test func `a transaction changes all or nothing`() async throws { try await contract().checkTransactions() }

        @Test func `one server at a time has a claim, until it gives it back or ends`() async throws {
            let parameters = try PostgresServer.database()
            let (one, two) = (PostgresServer.hubs(of: parameters), PostgresServer.hubs(of: parameters))
            let claim = SQLClaim(.send, 7)
            #expect(try await one.claim(claim))
            #expect(try await !two.claim(claim))
            #expect(try await two.claim(SQLClaim(.webhook, 7)))
            #expect(try await two.claims(.send) == [claim])
            await one.release(claim)
            #expect(try await two.claim(claim))
            try two.close()
            // The server notices the end of a connection a moment later.
            while try await !one.claim(claim) { await Task.yield() }
            #expect(try await one.claims(.webhook).isEmpty)
        }

        @Test(arguments: [
            ("a = ? AND b = ?", "a = $1 AND b = $2"), ("a = ?2 AND b = ?1", "a = $2 AND b = $1"), ("no", "no"),
            ("?", "$1"), ("(?, ?12)", "($1, $12)"),
        ])
        func `parameters have the form of PostgreSQL`(sql: String, numbered: String) {
            #expect(PostgresTransaction.numbered(sql) == numbered)
        }
    }
}
