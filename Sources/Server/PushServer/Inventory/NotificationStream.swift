import Foundation
import Hummingbird
import NIOCore
import PushCore
import ServiceLifecycle

/// A stream of new and changed notifications as server-sent events: `notification` with the item of the list, and `skipped` with
/// the number of those that were too many.
struct NotificationStream: Sendable {
    let feed: NotificationFeed
    let store: any InventoryStore
    let filter: NotificationFilter
    /// The newest notification that the reader has; `nil` for a reader who wants later ones alone.
    var last: NotificationID?

    /// The pause between two batches, and the number of notifications in one.
    private static let pause = Duration.milliseconds(250)
    private static let batch = 50
    /// The silence after which a comment is written: longer ones would be taken for a lost connection.
    private static let heartbeat = Duration.seconds(15)

    /// Writes until the reader disconnects, or the server stops.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let signals = feed.listen()
        defer { feed.leave() }
        var position = feed.position
        try await writer.write(ByteBuffer(string: "retry: 2000\n: notifications\n\n"))
        if let last { try await writer.write(try await events(after: last)) }
        let (wakes, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let tasks = [
            Task { for await _ in signals { continuation.yield(true) } },
            // Ends by cancellation.
            Task { while (try? await Task.sleep(for: Self.heartbeat)) != nil { continuation.yield(false) } },
        ]
        defer { for task in tasks { task.cancel() } }
        for await _ in wakes.cancelOnGracefulShutdown() {
            let changes = feed.changes(since: position)
            position = changes.position
            try await writer.write(try await events(changes))
            guard !changes.ids.isEmpty else { continue }
            // Changes that come meanwhile are in the next batch.
            try await Task.sleep(for: Self.pause)
        }
    }

    /// The events of the notifications that came after one, the newest of them.
    private func events(after last: NotificationID) async throws -> ByteBuffer {
        var filter = filter
        filter.from = max(filter.from ?? .distantPast, NotificationIDGenerator.instant(of: last))
        var buffer = ByteBuffer()
        for found in try await store.notifications(filter, before: nil, limit: Self.batch).items.reversed()
        where found.timeline.id > last {
            try Self.write(found, to: &buffer)
        }
        return buffer
    }

    private static func write(_ found: InventoryNotification, to buffer: inout ByteBuffer) throws {
        let json = try JSONEncoder().encode(NotificationsAnswer.Item(found))
        buffer.writeString("id: \(found.timeline.id)\nevent: notification\ndata: ")
        buffer.writeBytes(json)
        buffer.writeString("\n\n")
    }

    /// The events of some changes; the newest of them are looked up.
    private func events(_ changes: NotificationFeed.Changes) async throws -> ByteBuffer {
        var buffer = ByteBuffer()
        let ids = changes.ids.suffix(Self.batch)
        for id in ids {
            guard let found = try await store.notification(id, filter) else { continue }
            try Self.write(found, to: &buffer)
        }
        let skipped = changes.missed + changes.ids.count - ids.count
        if skipped > 0 { buffer.writeString("event: skipped\ndata: {\"count\":\(skipped)}\n\n") }
        if changes.ids.isEmpty { buffer.writeString(": still here\n\n") }
        return buffer
    }
}

extension InventoryStore {
    /// A notification as it is listed; `nil` for one that does not match the filter.
    fileprivate func notification(_ id: NotificationID, _ filter: NotificationFilter) async throws
        -> InventoryNotification?
    {
        let next = NotificationID(rawValue: id.rawValue + 1)
        var filter = filter
        filter.from = max(filter.from ?? .distantPast, NotificationIDGenerator.instant(of: id))
        return try await notifications(filter, before: next, limit: 1).items.first { $0.timeline.id == id }
    }
}
