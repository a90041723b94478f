import PostgresTestSupport
import PushCore
import PushServer
import StoreContract
import Testing

@testable import PostgresStore

extension PostgresTests {
    /// The contracts of all ports, each rule on a database of its own.
    @Suite struct Contracts {
        @Test(arguments: PostgresVersion.installed, NotificationStoreContract<PostgresStore>.rules)
        func `the notification store's contract holds`(
            version: PostgresVersion, rule: ContractRule<NotificationStoreContract<PostgresStore>>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(NotificationStoreContract(store, register: store.register))
        }

        @Test(arguments: PostgresVersion.installed, TopicStoreContract<PostgresStore>.rules)
        func `the topic store's contract holds`(
            version: PostgresVersion, rule: ContractRule<TopicStoreContract<PostgresStore>>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(TopicStoreContract(store, register: store.register))
        }

        @Test(arguments: PostgresVersion.installed, RegisterStoreContract.rules)
        func `the register store's contract holds`(
            version: PostgresVersion, rule: ContractRule<RegisterStoreContract>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(RegisterStoreContract(store.register))
        }

        @Test(arguments: PostgresVersion.installed, AppMessageStoreContract.rules)
        func `the contract of apps' messages holds`(
            version: PostgresVersion, rule: ContractRule<AppMessageStoreContract>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(AppMessageStoreContract(store, register: store.register))
        }

        @Test(arguments: PostgresVersion.installed, FeedbackContract.rules)
        func `the feedback store's contract holds`(
            version: PostgresVersion, rule: ContractRule<FeedbackContract>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(FeedbackContract(store.register))
        }

        @Test(arguments: PostgresVersion.installed, AuditStoreContract<PostgresAudit>.rules)
        func `the contract of the audit log holds`(
            version: PostgresVersion, rule: ContractRule<AuditStoreContract<PostgresAudit>>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(AuditStoreContract(store.audit))
        }

        @Test(arguments: PostgresVersion.installed, InventoryStoreContract<PostgresStore>.rules)
        func `the contract of lists holds`(
            version: PostgresVersion, rule: ContractRule<InventoryStoreContract<PostgresStore>>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(InventoryStoreContract(store, register: store.register))
        }

        @Test(arguments: PostgresVersion.installed, PeopleStoreContract.rules)
        func `the contract of people holds`(
            version: PostgresVersion, rule: ContractRule<PeopleStoreContract>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(PeopleStoreContract(store.people))
        }

        @Test(arguments: PostgresVersion.installed, ReportStoreContract<PostgresStore>.rules)
        func `the contract of reports holds`(
            version: PostgresVersion, rule: ContractRule<ReportStoreContract<PostgresStore>>
        ) async throws {
            let store = try PostgresServer.store(of: version)
            try await rule.check(ReportStoreContract(store, register: store.register))
        }

        @Test(arguments: [
            "UPDATE audit SET at = 0", "DELETE FROM audit", "TRUNCATE audit CASCADE", "UPDATE audit_end SET at = 0",
            "DELETE FROM audit_end", "TRUNCATE audit_end",
        ])
        func `no statement changes the audit log`(sql: String) async throws {
            let store = try PostgresServer.store()
            let number = try await store.audit.beginAudit(
                AuditEntry(
                    at: Timestamp(rawValue: 1), actor: .console, origin: .console, action: "app.add", object: "a"))
            try await store.audit.endAudit(number, AuditEnd(at: Timestamp(rawValue: 2), outcome: .done))
            let before = try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 9).items
            await #expect(throws: PostgresError.self) { try await store.pool.write { try $0.execute(sql) } }
            #expect(try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 9).items == before)
        }
    }
}
