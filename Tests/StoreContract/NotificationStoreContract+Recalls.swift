import PushCore
import PushServer
import Testing

/// What a store must do with what devices are told was withdrawn.
extension NotificationStoreContract {
    private func recall(_ id: Int64, of notification: Int64) -> Mailbox.Recall {
        Mailbox.Recall(
            id: NotificationID(rawValue: id), notification: NotificationID(rawValue: notification),
            at: now.adding(milliseconds: 5))
    }

    private func recalls(of device: DeviceID) throws -> [Mailbox.Recall] {
        try prefetched { $0.mailboxes = [device] }.recalls[device] ?? []
    }

    package func `a recall is paged in its place until it is removed`() async throws {
        try store.apply([
            .insertNotification(record(10, environment: .production)), .insertNotification(record(30)),
            .removeWaiting(NotificationID(rawValue: 10), of: device), .insertRecall(recall(20, of: 10), of: device),
            .insertNotification(record(11)), .insertRecall(recall(40, of: 11), of: device),
        ])
        let page = try await page()
        #expect(page.map(\.id.rawValue) == [11, 20, 30, 40])
        #expect(page[1].notice == .withdrawn(NotificationID(rawValue: 10)))
        #expect(page[1].topic == app.topic && page[1].team == app.team && page[1].environment == .production)
        #expect(page[1].acceptedAt == now.adding(milliseconds: 5))
        #expect(try await self.page(after: NotificationID(rawValue: 20), limit: 1).map(\.id.rawValue) == [30])
        #expect(try recalls(of: device) == [recall(20, of: 10), recall(40, of: 11)])
        #expect(try recalls(of: stranger).isEmpty)
        try store.apply([
            .removeRecall(NotificationID(rawValue: 20), of: device),
            .removeRecall(NotificationID(rawValue: 40), of: stranger),
        ])
        #expect(try recalls(of: device) == [recall(40, of: 11)])
    }

    package func `recalls leave with their notification, their app and their device`() async throws {
        let generator = NotificationIDGenerator(node: 0, highWater: 0)
        let old = generator.floor(at: now.adding(milliseconds: -1_000_000))
        let fresh = generator.floor(at: now)
        try store.apply([
            .insertNotification(record(old, waits: false)), .insertNotification(record(fresh, waits: false)),
            .insertRecall(recall(fresh + 1, of: old), of: device),
            .insertRecall(recall(fresh + 2, of: fresh), of: device),
        ])
        while try store.prune(
            timelinesBefore: now.adding(milliseconds: -500_000), payloadsBefore: now.adding(milliseconds: -500_000),
            now: now, limit: 1)
        {}
        #expect(try recalls(of: device) == [recall(fresh + 2, of: fresh)])
        #expect(try await register.removeApp(topic: app.topic, at: now) == app)
        #expect(try await page().isEmpty)
        #expect(try await register.revokeDevice(device, at: now))
        #expect(try recalls(of: device).isEmpty)
    }
}
