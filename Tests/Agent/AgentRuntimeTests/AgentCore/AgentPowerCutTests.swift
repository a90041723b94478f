import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import PowerCut
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The power fails at any moment: what the server may have been told that the device has is there.
struct AgentPowerCutTests {
    private static let app: BundleID = "com.example.todo"

    /// A commit that makes something so of one notification: how much had been written when it began, and when it returned.
    private struct Promise {
        var id: NotificationID
        var kind: Kind
        var begun: Int
        var kept: Int

        enum Kind { case stored, confirmed, attempted, handed, opened }
    }

    @Test func `what was acknowledged is there after a power cut, once, with the receipts that were stored`()
        async throws
    {
        let folder = try TemporaryFolder()
        let recording = DiskRecording(folder: folder.url.path)
        let promises = try work(folder.path("agent.sqlite")) { recording.count }
        try await PowerCuts.each(of: recording.end(), seed: 14) { left, made in
            let (store, aside) = try AgentStore.open(path: left.path("agent.sqlite"), now: noon)
            #expect(aside == nil, "damaged after \(made) changes")
            try check(store, promises, after: made)
        }
    }

    private func check(_ store: AgentStore, _ promises: [Promise], after made: Int) throws {
        let unconfirmed = try store.read { try $0.unconfirmed() }
        let waiting = try store.read { try $0.waiting(app: Self.app, after: 0, limit: 1000) }.map(\.id)
        let outbox = try store.outbox()
        for promise in promises where promise.kept <= made {
            let id = promise.id
            func hasBegun(_ kind: Promise.Kind) -> Bool {
                promises.contains { $0.id == id && $0.kind == kind && $0.begun <= made }
            }
            switch promise.kind {
            case .stored:
                // The next login names it, until the server's confirmation is stored.
                if !hasBegun(.confirmed) { #expect(unconfirmed.contains(id), "\(id) after \(made) changes") }
                if !hasBegun(.handed) { #expect(waiting.count { $0 == id } == 1, "\(id) after \(made) changes") }
                guard case .stored(_, _, _, isNew: false, _) = try store.commit([arrival(id.rawValue)]).first else {
                    Issue.record("\(id) is new a second time after \(made) changes")
                    continue
                }
            case .confirmed: #expect(!unconfirmed.contains(id), "\(id) after \(made) changes")
            case .attempted:
                #expect(outbox.count { $0 == "\(id) unanswered" } == 1, "after \(made) changes")
            case .handed:
                #expect(!waiting.contains(id), "\(id) after \(made) changes")
                #expect(outbox.count { $0 == "\(id) handed" } == 1, "after \(made) changes")
            case .opened: #expect(outbox.count { $0 == "\(id) opened" } == 1, "after \(made) changes")
            }
        }
    }

    private func runEnded(notifications: [NotificationID]) -> StoreChange {
        .runEnded(
            app: Self.app, UnansweredHandovers(notifications: notifications),
            PresentationConditions(standing: AppNotificationRecord(), policy: .granted), at: noon)
    }

    /// Sixty arrivals; some are confirmed, handed and opened, and the log is copied into the database meanwhile.
    private func work(_ path: String, position: () -> Int) throws -> [Promise] {
        let (store, _) = try AgentStore.open(path: path, now: noon)
        try store.write { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 40") }
        var promises: [Promise] = []
        func commit(_ changes: [StoreChange], _ kind: Promise.Kind, _ ids: [NotificationID]) throws {
            let begun = position()
            _ = try store.commit(changes)
            promises += ids.map { Promise(id: $0, kind: kind, begun: begun, kept: position()) }
        }
        for first in stride(from: Int64(1), to: 60, by: 3) {
            let ids = (first..<first + 3).map(NotificationID.init(rawValue:))
            let (one, two) = (ids[0], ids[1])
            try commit(ids.map { arrival($0.rawValue, .waitsShown([.screen, .list])) }, .stored, ids)
            try commit([.confirmed([one])], .confirmed, [one])
            try commit([runEnded(notifications: [two])], .attempted, [two])
            try commit(
                [
                    .handled(two, app: Self.app, shows: .nothing, at: noon),
                    .presented(two, .presented(handle: "\(first)", note: nil), again: false, at: noon),
                ], .handed, [two])
            try commit(
                [.tapped(two, action: NotificationAction.open, text: nil, activationToken: nil, at: noon)], .opened,
                [two])
        }
        return promises
    }
}
