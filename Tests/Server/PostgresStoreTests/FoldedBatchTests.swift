import AldabaTestSupport
import PushCore
import PushServer
import StoreMemory
import Testing

@testable import PostgresStore

@Suite struct FoldedBatchTests {
    private static let devices = (1...2).compactMap { DeviceID(UInt64($0)) }
    private static let apps = [AppID(rawValue: 1), AppID(rawValue: 2)]

    /// A random change; it refers to what earlier changes made, as often as to what nobody made.
    private static func change(_ number: Int64, _ random: inout SeededGenerator) -> RowChange {
        let id = NotificationID(rawValue: Int64.random(in: 1...max(1, number), using: &random))
        let device = devices.randomElement(using: &random) ?? devices[0]
        let app = apps.randomElement(using: &random) ?? apps[0]
        let at = Timestamp(rawValue: Int64.random(in: 1...4, using: &random))
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return .insertNotification(record(number, device, app))
        case 1:
            // Also of a notification that comes later in the batch.
            let later = NotificationID(rawValue: number + Int64.random(in: 1...4, using: &random))
            return .removeWaiting(Bool.random(using: &random) ? id : later, of: device)
        case 2:
            return .keepTombstone(
                Mailbox.Tombstone(
                    id: NotificationID(rawValue: number), app: app, environment: .sandbox, lane: .apns, count: 1,
                    since: at), of: device)
        case 3: return .removeTombstone(id, of: device)
        case 4:
            return .insertRecall(
                Mailbox.Recall(id: NotificationID(rawValue: number), notification: id, at: at), of: device)
        case 5: return .removeRecall(id, of: device)
        case 6:
            return .addMissed(
                MissedNotifications(app: app, environment: .sandbox, lane: .apns, count: 1, since: at), of: device)
        case 7:
            let place = RegistrationKey(device: device, app: app, environment: .sandbox)
            return .forgetMissed(of: device, only: Bool.random(using: &random) ? place : nil)
        case 8:
            let states: [NotificationState] = [.sent, .acked]
            return .appendLine(
                TimelineEntry(at: at, state: states.randomElement(using: &random) ?? .sent, source: .server), to: id)
        case 9: return .moveCursor(device, to: at.rawValue)
        case 10: return .openSession(device, node: 1, epoch: UInt64(number))
        case 11: return .closeSession(device, epoch: UInt64(id.rawValue))
        default: return .raiseHighWater(to: number)
        }
    }

    private static func record(_ number: Int64, _ device: DeviceID, _ app: AppID) -> NotificationRecord {
        NotificationRecord(
            id: NotificationID(rawValue: number),
            subject: TokenSubject(cell: 0, device: device, app: app, environment: .sandbox, generation: 0),
            apnsID: nil, pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: Timestamp(rawValue: 1),
            expiresAt: Timestamp(rawValue: 9), waits: number.isMultiple(of: 3) == false, lane: .apns,
            payload: .own([]))
    }

    /// What a batch that needs everything reads.
    private static func everything(_ store: MemoryStore, _ count: Int64) throws -> Prefetched {
        var request = PrefetchRequest(acceptedSince: .distantPast)
        request.mailboxes = Set(devices)
        request.secretHashes = Set(devices)
        request.audiences = Set(devices)
        for device in devices { request.locks[device] = MailboxLock() }
        request.notifications = Set((1...count).map { NotificationID(rawValue: $0) })
        return try store.prefetch(request)
    }

    private static func enrolled() async throws -> MemoryStore {
        let store = MemoryStore()
        for device in devices {
            let hash = DeviceCredentials(device: device, secret: 7).secretHash
            #expect(try await store.addDevice(device, secretHash: hash, at: Timestamp(rawValue: 0)))
        }
        return store
    }

    @Test(arguments: 0..<60)
    func `a folded batch has the effect of its changes`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (ordered, folded) = (try await Self.enrolled(), try await Self.enrolled())
        var number: Int64 = 0
        for _ in 0..<12 {
            var batch: [RowChange] = []
            for _ in 0..<Int.random(in: 1...24, using: &random) {
                number += 1
                batch.append(Self.change(number, &random))
            }
            try ordered.apply(batch)
            try folded.apply(FoldedBatch(batch).changes)
            #expect(try Self.everything(folded, number) == Self.everything(ordered, number))
            #expect(try folded.highWater() == ordered.highWater())
        }
    }

    @Test func `what a batch removes and then inserts is written`() throws {
        let device = Self.devices[0]
        let record = Self.record(4, device, Self.apps[0])
        let folded = FoldedBatch([.removeWaiting(record.id, of: device), .insertNotification(record)])
        #expect(folded.waiting.inserted.count == 1 && folded.waiting.removed == folded.waiting.inserted)
        #expect(folded.changes == [.removeWaiting(record.id, of: device), .insertNotification(record)])
    }

    @Test func `what a batch inserts and removes is not written`() throws {
        let device = Self.devices[0]
        let record = Self.record(4, device, Self.apps[0])
        let folded = FoldedBatch([.insertNotification(record), .removeWaiting(record.id, of: device)])
        #expect(folded.notifications == [record] && folded.waiting.inserted.isEmpty && folded.waiting.removed.isEmpty)
    }
}
