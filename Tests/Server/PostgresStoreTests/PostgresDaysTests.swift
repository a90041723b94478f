import PostgresTestSupport
import PushCore
import PushServer
import Testing

@testable import PostgresStore

extension PostgresTests {
    @Suite struct Days {
        private let database: [String: String]
        private let store: PostgresStore
        private let now = PostgresServer.now

        init() throws {
            database = try PostgresServer.database()
            store = try PostgresStore(database, at: now)
        }

        private func days() throws -> [Int64] { try store.writer.read { try PostgresDays(connection: $0).days() } }

        private func count(_ table: String) throws -> Int {
            try PostgresConnection(database).run("SELECT count(*) FROM \(table)")[0][0]
        }

        /// A notification that was accepted so many days ago, with a line in its timeline.
        private func changes(daysAgo: Int64, waits: Bool = false) throws -> [RowChange] {
            let at = now.adding(milliseconds: -daysAgo * 86_400_000)
            let id = NotificationID(rawValue: NotificationIDGenerator(node: 0, highWater: 0).floor(at: at) + 1)
            let device = try #require(DeviceID(7))
            return [
                .insertNotification(
                    NotificationRecord(
                        id: id,
                        subject: TokenSubject(
                            cell: 0, device: device, app: AppID(rawValue: 1), environment: .sandbox, generation: 0),
                        apnsID: APNsID(rawValue: "id-\(daysAgo)"), pushType: .alert, priority: .immediate,
                        collapseID: nil,
                        acceptedAt: at, expiresAt: waits ? now.adding(milliseconds: 1) : nil, waits: waits, lane: .apns,
                        payload: .own([1]))),
                .appendLine(TimelineEntry(at: at, state: .acked, source: .server), to: id),
            ]
        }

        private func prune(before: Timestamp, at now: Timestamp) throws {
            while try store.prune(timelinesBefore: before, payloadsBefore: Timestamp(rawValue: 1), now: now, limit: 100)
            {}
        }

        @Test func `today and the next days have partitions, and a sweep makes those of later days`() throws {
            let today = now.rawValue / 86_400_000
            #expect(try days() == Array(today...(today + 3)))
            try prune(before: Timestamp(rawValue: 1), at: now.adding(milliseconds: 2 * 86_400_000))
            #expect(try days() == Array(today...(today + 5)))
        }

        @Test func `a day is dropped when all of it is old, with what belongs to its notifications`() throws {
            try store.apply(try changes(daysAgo: 0, waits: true) + changes(daysAgo: -2))
            #expect(try count("message_rest") == 0 && count("identity_rest") == 0)
            let tables = ["message", "timeline", "identity"]
            #expect(try tables.map(count) == [2, 2, 2])
            let today = now.rawValue / 86_400_000
            // Half of tomorrow is over, so that today is dropped and tomorrow is not.
            try prune(before: PostgresDays.start(today + 1).adding(milliseconds: 43_200_000), at: now)
            #expect(try days().first == today + 1)
            #expect(try tables.map(count) == [1, 1, 1] && count("pending") == 0)
        }

        @Test func `rows of days without a partition are kept, found and pruned`() throws {
            try store.apply(try changes(daysAgo: 40) + changes(daysAgo: 20))
            #expect(try count("message_rest") == 2)
            try prune(before: now.adding(milliseconds: -30 * 86_400_000), at: now)
            #expect(try count("message") == 1 && count("timeline") == 1 && count("identity") == 1)
        }
    }
}
