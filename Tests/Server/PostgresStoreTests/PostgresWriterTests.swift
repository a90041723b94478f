import AldabaTestSupport
import PostgresTestSupport
import PushCore
import PushServer
import Synchronization
import Testing

@testable import PostgresStore

extension PostgresTests {
    /// Batches whose connection is lost, and what several processes do on one database.
    @Suite struct Writers {
        private let database: [String: String]
        private let now = PostgresServer.now

        init() throws { database = try PostgresServer.database() }

        private func store(as role: PostgresStore.Role = .alone) throws -> PostgresStore {
            try PostgresStore(database, as: role, at: now)
        }

        private func refusal(_ id: Int64) -> RowChange {
            .insertRefusal(
                RefusalRecord(
                    id: NotificationID(rawValue: id), team: TeamID(rawValue: "TEAM123456"), topic: "t", apnsID: nil,
                    at: now,
                    code: "BadTopic", note: nil))
        }

        private func terminate(_ store: PostgresStore) throws {
            let process = try store.writer.read { $0.processID }
            try PostgresConnection(database).run("SELECT pg_terminate_backend($1::int, 5000)", Int(process))
        }

        @Test func `a connection that was lost between two batches is replaced`() throws {
            let store = try store()
            try store.apply([.raiseHighWater(to: 1)])
            try terminate(store)
            try store.apply([.raiseHighWater(to: 2)])
            try terminate(store)
            #expect(try store.highWater() == 2)
        }

        @Test func `a batch that the database refuses leaves nothing behind, and the next is made`() throws {
            let store = try store()
            #expect(throws: PostgresError.self) { try store.apply([refusal(5), refusal(5)]) }
            try store.apply([refusal(5)])
            #expect(try store.highWater() == 5)
        }

        /// Has the server end the connection that commits the first row of refused requests, once.
        private func endFirstCommit() throws {
            try PostgresConnection(database).execute(
                """
                CREATE SEQUENCE death;
                CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('death') = 1 THEN
                        PERFORM pg_terminate_backend(pg_backend_pid());
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER die AFTER INSERT ON refusal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                    EXECUTE FUNCTION die();
                """)
        }

        private func named(_ id: Int64) -> RowChange {
            .insertRefusal(
                RefusalRecord(
                    id: NotificationID(rawValue: id), team: TeamID(rawValue: "TEAM123456"), topic: "t", apnsID: "name",
                    at: now, code: "BadTopic", note: nil))
        }

        @Test(arguments: [true, false])
        func `a batch whose commit was not answered is made once`(wasCommitted: Bool) throws {
            try endFirstCommit()
            let connections = Atomic(0)
            let database = database
            let writer = try PostgresWriter(isAlone: true) {
                let connection = try PostgresStore.connection(database)
                // The row of the node, as a commit would have left it whose answer alone was lost.
                if connections.add(1, ordering: .relaxed).newValue == 2, wasCommitted {
                    try connection.execute("UPDATE node SET batch = batch + 1")
                }
                return connection
            }
            try writer.commit(BatchStatements(FoldedBatch([named(6)])).all)
            let count: Int = try PostgresConnection(database).run("SELECT count(*) FROM refusal")[0][0]
            #expect(count == (wasCommitted ? 0 : 1), "it is written again where it was not committed, and only there")
            #expect(connections.load(ordering: .relaxed) == 2)
        }

        @Test func `a commit that nobody can ask for is unknown`() throws {
            try endFirstCommit()
            let connections = Atomic(0)
            let database = database
            let writer = try PostgresWriter(isAlone: true) {
                guard connections.add(1, ordering: .relaxed).newValue == 1 else {
                    throw PostgresError(code: nil, message: "there is no server")
                }
                return try PostgresStore.connection(database)
            }
            let error = #expect(throws: PostgresError.self) {
                try writer.commit(BatchStatements(FoldedBatch([named(6)])).all)
            }
            #expect(error?.isCommitUnknown == true)
        }

        @Test func `a node whose number another one has taken knows nothing of its commit, and is told once`() throws {
            try endFirstCommit()
            let connections = Atomic(0)
            let isLost = Flag()
            let database = database
            let other = Mutex<PostgresWriter?>(nil)
            let writer = try PostgresWriter(isAlone: false, numberLost: { isLost.store(true) }) {
                // The number is free while the node has no connection.
                if connections.add(1, ordering: .relaxed).newValue == 2 {
                    let taken = try PostgresWriter(isAlone: false) { try PostgresStore.connection(database) }
                    #expect(taken.node == 0)
                    other.withLock { $0 = taken }
                }
                let connection = try PostgresStore.connection(database)
                try connection.execute("SET lock_timeout = '100ms'")
                return connection
            }
            let error = #expect(throws: PostgresError.self) {
                try writer.commit(BatchStatements(FoldedBatch([named(6)])).all)
            }
            #expect(error?.isCommitUnknown == true)
            #expect(isLost.load())
            // It gets the number back, and the row tells of another writer's batches.
            other.withLock { $0?.close() }
            try writer.commit([])
            #expect(connections.load(ordering: .relaxed) == 3)
        }

        @Test func `the tables of an earlier version are brought up to date, and those of a later one refused`() throws
        {
            let empty = try PostgresServer.database(withTables: false)
            let connection = try PostgresConnection(empty)
            for statement in PostgresSchema.steps[0] { try connection.execute(statement) }
            try connection.execute("INSERT INTO meta VALUES ('high_water', 77)")
            let store = try PostgresStore(empty, at: now)
            #expect(try store.highWater() == 77)
            #expect(
                try connection.run("SELECT version FROM schema_version").first?[0] as Int64? == PostgresSchema.version)
            try store.close()
            try connection.execute("UPDATE schema_version SET version = version + 1")
            let error = #expect(throws: PostgresSchema.OtherVersion.self) { try PostgresStore(empty, at: now) }
            #expect(error?.found == PostgresSchema.version + 1)
        }

        @Test func `a server that is alone refuses others until it has ended`() throws {
            let first = try store()
            let error = #expect(throws: PostgresWriter.DatabaseInUseError.self) { try store(as: .node) }
            #expect(error?.isAlone == false)
            try first.close()
            let nodes = [try store(as: .node), try store(as: .node)]
            #expect(nodes.map(\.node) == [0, 1])
            #expect(throws: PostgresWriter.DatabaseInUseError.self) { try store() }
            for node in nodes { try node.close() }
            try store().apply([.raiseHighWater(to: 1)])
        }

        @Test func `a program that is no node changes the register beside a node, which hears of it`() async throws {
            let (node, command) = (try store(), try store(as: .command))
            let version = node.register.registerVersion
            #expect(throws: PostgresError.self) { try command.apply([refusal(5)]) }
            _ = try await command.register.addApp(
                topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"),
                policy: MailboxPolicy(),
                at: now)
            #expect(node.register.registerVersion == version)
            node.register.waitForRegisterChange(since: version, milliseconds: 1000)
            #expect(node.register.registerVersion > version)
        }

        @Test func `a server's unsafe settings are found`() throws {
            let inspection = try PostgresInspection(database)
            #expect(inspection.version.contains(".") && inspection.standbys.isEmpty)
            // The tests' server does without, for speed.
            #expect(
                inspection.faults == [
                    .init(setting: "fsync", value: "off", remedy: "set fsync to on in postgresql.conf")
                ])
        }

        @Test func `a database of a later version is refused`() throws {
            try PostgresConnection(database).execute("UPDATE schema_version SET version = version + 1")
            #expect(throws: PostgresSchema.OtherVersion(found: PostgresSchema.version + 1)) { try store() }
        }
    }
}
