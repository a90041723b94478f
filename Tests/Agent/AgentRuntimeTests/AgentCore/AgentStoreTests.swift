import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import GRDB
import PushCore
import Scheduling
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct AgentStoreTests {
    private let folder: TemporaryFolder
    private let path: String
    private let store: AgentStore
    private let app: BundleID = "com.example.todo"

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("agent.sqlite")
        store = try AgentStore.open(path: path, now: noon).store
    }

    /// - Returns: How many rows went.
    private func prune(
        kept: Int = 100, waiting: Int = 100, at now: Timestamp = noon, limit: Int = 10
    ) throws -> Int {
        try store.prune(AgentLimits(kept: kept, waiting: waiting), now: now, limit: limit).deleted
    }

    @Test func `every commit is synced to the disk`() throws {
        #expect(try store.synchronousLevel() == 2)
    }

    @Test func `a store that a newer agent made is refused with a sentence, and left as it is`() throws {
        _ = try store.commit([arrival(1)])
        try store.write { database in
            try database.execute(sql: "INSERT INTO grdb_migrations(identifier) VALUES('9999')")
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted()
        let refusal = #expect(throws: AgentStartError.self) { try AgentStore.open(path: path, now: noon) }
        #expect(refusal?.description.contains("made by a newer version of aldaba; run that one") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == before)
        let waiting = try store.read { try $0.waiting(app: app, after: 0, limit: 10) }
        #expect(waiting.map(\.id.rawValue) == [1], "nothing was put aside or taken away")
    }

    @Test func `nobody else can read the store`() throws {
        _ = try store.commit([arrival(1)])
        for part in ["", "-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + part)
            #expect((attributes[.posixPermissions] as? Int) == 0o600)
        }
    }

    @Test(arguments: Array(AgentSchema.migrator.migrations.enumerated()))
    func `each landed schema is the one of its fixture`(number: Int, migration: String) throws {
        let migrated = try DatabaseQueue()
        try AgentSchema.migrator.migrate(migrated, upTo: migration)
        let dump = try migrated.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
                        AND name NOT LIKE 'grdb_%' ORDER BY rowid
                    """)
        }
        let fixture = Repository.fixture("agent-schema/\(number + 1).sql")
        let expected = try String(contentsOf: fixture, encoding: .utf8)
        #expect(dump.map { $0 + ";\n" }.joined() == expected)
    }

    @Test func `a notification that comes twice is stored once`() throws {
        let id = NotificationID(rawValue: 1)
        #expect(try store.commit([arrival(1)]) == [.stored(id, app: app, session: 1, isNew: true, awaited: true)])
        #expect(try store.commit([arrival(1)]) == [.stored(id, app: app, session: 1, isNew: false, awaited: false)])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.map(\.id) == [id])
    }

    @Test func `an id is remembered until the server knows that it is stored, also over a restart`() throws {
        _ = try store.commit([arrival(1), arrival(2)])
        let again = try AgentStore.open(path: path, now: noon).store
        #expect(try again.read { try $0.unconfirmed() }.map(\.rawValue) == [1, 2])
        _ = try again.commit([.confirmed([NotificationID(rawValue: 1)])])
        #expect(try again.read { try $0.unconfirmed() }.map(\.rawValue) == [2])
    }

    @Test func `one that was deleted here and not confirmed is still known`() throws {
        _ = try store.commit([arrival(1), .handled(NotificationID(rawValue: 1), app: app, shows: .nothing, at: noon)])
        #expect(try prune(kept: 0) == 1)
        let effect = try store.commit([arrival(1)])
        #expect(effect == [.stored(NotificationID(rawValue: 1), app: app, session: 1, isNew: false, awaited: false)])
    }

    @Test func `a handler that returns before the desktop answers takes nothing out of the list`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1, .waitsShown([.screen, .list, .sound])), .handled(id, app: app, shows: .nothing, at: noon),
            .presented(id, .presented(handle: "1", note: nil), again: false, at: noon),
        ])
        #expect(try store.read { try $0.isListed(id) })
        #expect(try store.outbox() == ["1 presented", "1 handed"])
    }

    @Test func `a message of FCM takes the place of what is listed under its tag`() throws {
        func arrived(_ id: Int64, _ members: String, collapseID: String? = nil) -> StoreChange {
            .arrived(
                Arrival(
                    notification: fcmMessage(id, #""aps":{"alert":"Milk"}\#(members)"#, collapseID: collapseID),
                    session: 1, receivedAt: noon, kind: .foreground, disposition: .isShown(.list)))
        }
        let tag = #","gcm.notification.tag":"mail-7""#
        _ = try store.commit([arrived(1, tag), arrived(2, ""), arrived(3, tag), arrived(4, tag, collapseID: "c")])
        let listed = try store.read { try $0.listed(app: app, limit: 10) }
        #expect(Set(listed.map(\.identifier)) == ["mail-7", "apns-2", "c"])
        #expect(Set(listed.map(\.id.rawValue)) == [2, 3, 4])
    }

    @Test func `what could not be shown and was taken off the list is not shown later either`() throws {
        let (missed, kept) = (NotificationID(rawValue: 1), NotificationID(rawValue: 2))
        for id in [missed, kept] {
            _ = try store.commit([
                arrival(id.rawValue, .isShown([.screen, .list])),
                .presented(id, .failed(reason: "no server"), again: false, at: noon),
            ])
        }
        #expect(try store.commit([.unlisted(app: app, identifiers: ["apns-1"])]) == [.unlisted([missed])])
        _ = try store.commit([
            .shownAgain(missed, handle: "1", at: noon), .shownAgain(kept, handle: "2", at: noon),
        ])
        #expect(try store.read { try $0.shown(limit: 10) }.map(\.id) == [kept])
    }

    @Test func `what is answered while a new server is given it does not stand on the screen`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1, .isShown([.screen, .list])),
            .presented(id, .presented(handle: "1", note: nil), again: false, at: noon),
            .tapped(id, action: "x", text: nil, activationToken: nil, at: noon),
            .shownAgain(id, handle: "2", at: noon),
        ])
        #expect(try store.read { try $0.shown(limit: 10) }.isEmpty)
    }

    @Test func `what an app cannot be woken for says so once`() throws {
        let silent = #"{"aps":{"content-available":1}}"#
        _ = try store.commit([
            arrival(1, payload: silent), arrival(2), .deferred(app: app, at: noon), .deferred(app: app, at: noon),
        ])
        #expect(try store.outbox() == ["1 suppressed(budget)"])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.map(\.id.rawValue) == [1, 2])
    }

    @Test func `what finds the screen full and no list ends with its reason`() throws {
        _ = try store.commit((1...32).map { arrival($0, .isShown(.screen)) })
        _ = try store.commit([arrival(33, .isShown(.screen)), arrival(34, .isShown([.screen, .list]))])
        #expect(try store.outbox() == ["33 failed(NotShown)", "34 presented"])
    }

    @Test func `an occurrence fires once, also when it is told again, and what was taken back not at all`() throws {
        var content = NotificationContent()
        content.title = "tea"
        let request = NotificationRequest(
            identifier: "tea", content: content, trigger: .timeInterval(seconds: 60, repeats: true))
        let added = ClockReading(wall: noon, boot: UUID(), sinceBoot: 1)
        guard
            case .scheduled(let waiting, replaced: [], dropped: [])? = try store.commit([
                .scheduled(app: app, request, as: nil, at: added)
            ]).first
        else {
            Issue.record("it does not wait")
            return
        }
        func due(after minutes: Int64) -> StoreChange {
            let due = DueRequest(
                key: waiting.key, app: app, request: request,
                occurrence: added.wall.adding(milliseconds: minutes * 60_000),
                isLast: minutes == 3)
            return .due(due, isAsked: false, shows: .list, at: noon)
        }
        #expect(try store.commit([due(after: 1), due(after: 1), due(after: 2)]).filter { $0 == .nothing }.count == 1)
        #expect(try store.commit([due(after: 1)]) == [.nothing])
        #expect(try store.read { try $0.pending(key: waiting.key)?.fired } == 2)
        _ = try store.commit([due(after: 3)])
        #expect(try store.read { try $0.pending() }.isEmpty)
        #expect(try store.commit([due(after: 4)]) == [.nothing])
    }

    @Test func `a batch is stored whole or not at all`() throws {
        let other = try DatabaseQueue(path: path)
        try other.write {
            try $0.execute(sql: "CREATE TRIGGER fail BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        #expect(throws: (any Error).self) {
            try store.commit([arrival(1), arrival(2, .ends(.dropped(.unregistered), note: nil))])
        }
        #expect(try store.read { try $0.unconfirmed() }.isEmpty)
    }

    @Test func `what the app does not want shown is handed when its handler returned`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([arrival(1), .handled(id, app: app, shows: .nothing, at: noon)])
        #expect(try store.outbox() == ["1 handed"])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.isEmpty)
    }

    @Test func `a call that its app did not take has no receiver, and does not wait any more`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([arrival(1), .callNotTaken(id, app: app, at: noon), .callNotTaken(id, app: app, at: noon)])
        #expect(try store.outbox() == ["1 failed(noReceiver)"])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.isEmpty)
    }

    @Test func `what the app wants shown is handed once it is shown`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([arrival(1), .handled(id, app: app, shows: [.screen, .list, .sound], at: noon)])
        #expect(try store.outbox().isEmpty)
        #expect(try store.read { try $0.wanted(limit: 10) }.map(\.id) == [id])
        _ = try store.commit([.presented(id, .presented(handle: ":1.2 3", note: nil), again: false, at: noon)])
        #expect(try store.outbox() == ["1 presented", "1 handed"])
        #expect(try store.read { try $0.wanted(limit: 10) }.isEmpty)
        #expect(try store.read { try $0.shown(limit: 10) }.map(\.handle) == [":1.2 3"])
    }

    @Test func `an intent outlives a restart and is answered once`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([arrival(1), .handled(id, app: app, shows: [.screen, .list, .sound], at: noon)])
        let again = try AgentStore.open(path: path, now: noon).store
        #expect(try again.read { try $0.wantedIDs() } == [id])
        let answer = StoreChange.presented(id, .presented(handle: nil, note: "headless"), again: true, at: noon)
        _ = try again.commit([answer, answer])
        let receipts = try again.read { try $0.receipts(after: 0, limit: 10) }.map(\.receipt.entry)
        #expect(receipts.map(\.state) == [.presented, .handed])
        #expect(
            receipts.first?.note == "headless; shown again after a restart of the agent; a second popup is possible")
    }

    @Test func `what nobody could see is told as put into the list, by the agent`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([arrival(1), .handled(id, app: app, shows: [.screen, .list, .sound], at: noon)])
        _ = try store.commit([.presented(id, .kept(reason: "there is no screen"), again: false, at: noon)])
        let receipts = try store.read { try $0.receipts(after: 0, limit: 10) }.map(\.receipt.entry)
        #expect(receipts.map(\.state) == [.presented, .handed])
        #expect(receipts.first?.source == .agent && receipts.first?.note == "in the list only: there is no screen")
        _ = try store.commit([.dismissed(id, by: .terminal, at: noon)])
        let last = try store.read { try $0.receipts(after: 0, limit: 10) }.map(\.receipt.entry).last
        #expect(
            last == TimelineEntry(at: noon, state: .dismissed, source: .agent, note: "by a person at a terminal"))
    }

    @Test func `what could not be shown before its app came is handed later with the reason`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1, .waitsShown([.screen, .list, .sound])),
            .presented(id, .failed(reason: "no server"), again: false, at: noon),
            .handled(id, app: app, shows: [.screen, .list, .sound], at: noon),
        ])
        let receipts = try store.read { try $0.receipts(after: 0, limit: 10) }.map(\.receipt.entry)
        #expect(receipts == [TimelineEntry(at: noon, state: .handed, source: .app, note: "not shown: no server")])
    }

    @Test func `what could not be shown is handed with the reason`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1), .handled(id, app: app, shows: [.screen, .list, .sound], at: noon),
            .presented(id, .failed(reason: "no server"), again: false, at: noon),
        ])
        let receipts = try store.read { try $0.receipts(after: 0, limit: 10) }.map(\.receipt.entry)
        #expect(receipts == [TimelineEntry(at: noon, state: .handed, source: .app, note: "not shown: no server")])
    }

    @Test func `one that was shown before its app came is handed later and not shown again`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1, .waitsShown([.screen, .list, .sound])),
            .presented(id, .presented(handle: "h", note: nil), again: false, at: noon),
            .handled(id, app: app, shows: [.screen, .list, .sound], at: noon),
        ])
        #expect(try store.outbox() == ["1 presented", "1 handed"])
        #expect(try store.read { try $0.wanted(limit: 10) }.isEmpty)
    }

    @Test func `an answer that is repeated changes nothing`() throws {
        let handled = StoreChange.handled(NotificationID(rawValue: 1), app: app, shows: .nothing, at: noon)
        _ = try store.commit([arrival(1), handled, handled])
        #expect(try store.outbox() == ["1 handed"])
    }

    @Test func `an app cannot answer for another app`() throws {
        _ = try store.commit([
            arrival(1), .handled(NotificationID(rawValue: 1), app: "com.example.other", shows: .nothing, at: noon),
        ])
        #expect(try store.outbox().isEmpty)
    }

    @Test func `a tapped notification goes to its app with the response only`() throws {
        let id = NotificationID(rawValue: 1)
        let effects = try store.commit([
            arrival(1, .waitsShown([.screen, .list, .sound])),
            .presented(id, .presented(handle: "h", note: nil), again: false, at: noon),
            .tapped(id, action: NotificationAction.open, text: nil, activationToken: nil, at: noon),
        ])
        #expect(effects.last == .tapped(id, app: app, activationToken: nil))
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.isEmpty)
        let response = try #require(try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.first)
        #expect(response.notification.id == id)
        _ = try store.commit([.responseHandled(response.sequence, app: app, at: noon)])
        #expect(try store.outbox() == ["1 presented", "1 opened", "1 handed"])
        #expect(try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.isEmpty)
    }

    @Test func `a tap that was dropped lets the notification wait for its app again`() throws {
        let id = NotificationID(rawValue: 1)
        let effects = try store.commit([
            arrival(1), .tapped(id, action: NotificationAction.open, text: nil, activationToken: nil, at: noon),
            .responsesDropped(app: app, at: noon),
        ])
        #expect(effects.last == .responsesDropped(app: app, count: 1))
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.map(\.id) == [id])
    }

    @Test func `closing after a tap is no dismissal`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1, .waitsShown([.screen, .list, .sound])),
            .presented(id, .presented(handle: "h", note: nil), again: false, at: noon),
            .tapped(id, action: NotificationAction.open, text: nil, activationToken: nil, at: noon),
            .dismissed(id, at: noon),
        ])
        #expect(try store.outbox() == ["1 presented", "1 opened"])
    }

    @Test func `a dismissal is reported once`() throws {
        let id = NotificationID(rawValue: 1)
        _ = try store.commit([
            arrival(1, .waitsShown([.screen, .list, .sound])),
            .presented(id, .presented(handle: "h", note: nil), again: false, at: noon),
            .dismissed(id, at: noon), .dismissed(id, at: noon),
        ])
        #expect(try store.outbox() == ["1 presented", "1 dismissed"])
    }

    @Test func `what an app left unhandled is wanted on the screen where it has text`() throws {
        _ = try store.commit([
            arrival(1), arrival(2, payload: #"{"aps":{"content-available":1}}"#),
            .leftUnhandled(
                app: app, PresentationConditions(standing: AppNotificationRecord(), policy: .granted), at: noon),
        ])
        #expect(try store.read { try $0.wanted(limit: 10) }.map(\.id.rawValue) == [1])
    }

    private func runEnded(_ unanswered: UnansweredHandovers) -> StoreChange {
        .runEnded(
            app: app, unanswered, PresentationConditions(standing: AppNotificationRecord(), policy: .granted), at: noon)
    }

    @Test func `what two runs did not survive ends with its reason, and text is seen`() throws {
        let unanswered = UnansweredHandovers(notifications: [1, 2].map(NotificationID.init(rawValue:)))
        _ = try store.commit([arrival(1), arrival(2, payload: #"{"aps":{"content-available":1}}"#)])
        #expect(try store.commit([runEnded(unanswered)]) == [.runEnded(app: app, counted: 2, givenUp: 0)])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.map(\.attempts) == [1, 1])
        #expect(try store.commit([runEnded(unanswered)]) == [.runEnded(app: app, counted: 2, givenUp: 2)])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.isEmpty)
        #expect(try store.read { try $0.wanted(limit: 10) }.map(\.id.rawValue) == [1])
        #expect(try store.commit([runEnded(unanswered)]) == [.runEnded(app: app, counted: 0, givenUp: 0)])
        #expect(
            try store.outbox() == [
                "1 unanswered", "2 unanswered", "1 failed(appCrashed)", "2 failed(appCrashed)",
            ])
    }

    @Test func `a tap that two runs did not survive waits no longer, nor does its notification`() throws {
        _ = try store.commit([
            arrival(1),
            .tapped(
                NotificationID(rawValue: 1), action: NotificationAction.open, text: nil, activationToken: nil, at: noon),
        ])
        let place = try #require(
            try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.first?.sequence)
        let change = runEnded(UnansweredHandovers(responses: [place]))
        #expect(try store.commit([change]) == [.runEnded(app: app, counted: 1, givenUp: 0)])
        #expect(try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.map(\.attempts) == [1])
        #expect(try store.commit([change]) == [.runEnded(app: app, counted: 1, givenUp: 1)])
        #expect(try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.isEmpty)
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 1) }.isEmpty)
        #expect(try store.outbox() == ["1 opened", "1 unanswered", "1 failed(appCrashed)"])
    }

    @Test(arguments: [false, true])
    func `a tap that a run did not survive is gone with the app, and an installed one waits for nothing`(isHeld: Bool)
        throws
    {
        _ = try store.commit([
            arrival(1),
            .tapped(
                NotificationID(rawValue: 1), action: NotificationAction.open, text: nil, activationToken: nil,
                isHeld: isHeld, at: noon),
        ])
        let places = try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.map(\.sequence)
        _ = try store.commit([runEnded(UnansweredHandovers(responses: places)), .appRemoved(app: app, at: noon)])
        #expect(try store.commit([.released]) == [.released(apps: [])])
        #expect(try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.isEmpty)
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 1) }.isEmpty)
    }

    @Test func `an outcome whose report kills the app five times is not reported again`() throws {
        _ = try store.commit([
            .upstreamQueued(
                UpstreamDraft(id: "a", to: "1", data: [:], timeToLive: 0), app: app, waiter: 1, at: noon),
            .upstreamEnded(1, code: nil),
        ])
        let change = runEnded(UnansweredHandovers(wasTold: true))
        for _ in 1...4 { #expect(try store.commit([change]) == [.runEnded(app: app, counted: 1, givenUp: 0)]) }
        #expect(try store.read { try $0.endedUpstream(app: app) }.count == 1)
        #expect(try store.commit([change]) == [.runEnded(app: app, counted: 1, givenUp: 1)])
        #expect(try store.read { try $0.endedUpstream(app: app) }.isEmpty)
    }

    @Test func `confirmed receipts leave the outbox`() throws {
        _ = try store.commit(
            (1...3).flatMap {
                [arrival($0), .handled(NotificationID(rawValue: $0), app: app, shows: .nothing, at: noon)]
            })
        let places = try store.read { try $0.receipts(after: 0, limit: 2) }.map(\.sequence)
        _ = try store.commit([.receiptsConfirmed(places[0]...places[1])])
        #expect(try store.outbox() == ["3 handed"])
    }

    @Test func `only finished notifications are deleted, the oldest first`() throws {
        _ = try store.commit(
            (1...5).map { arrival($0) }
                + [2, 3, 4].map {
                    .handled(
                        NotificationID(rawValue: $0), app: app, shows: $0 == 3 ? .screen : .nothing, at: noon)
                })
        #expect(try prune(kept: 2) == 1)
        #expect(try prune(kept: 2) == 0)
        #expect(try prune(at: noon.adding(milliseconds: 30 * 86_400_000 + 1), limit: 1) == 1)
        #expect(try store.read { try $0.wantedIDs() }.map(\.rawValue) == [3])
    }

    @Test func `the oldest of what an app does not take end as overflow`() throws {
        _ = try store.commit(
            (1...5).map { arrival($0) } + [.handled(NotificationID(rawValue: 5), app: app, shows: .nothing, at: noon)])
        #expect(try prune(waiting: 2) == 2)
        #expect(try prune(waiting: 2) == 0)
        #expect(try store.outbox() == ["5 handed", "1 dropped(overflow)", "2 dropped(overflow)"])
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.map(\.id.rawValue) == [3, 4])
    }

    @Test func `what an app does not take in time ends as expired, unless it is on the screen`() throws {
        let shown = NotificationID(rawValue: 2)
        _ = try store.commit([
            arrival(1), arrival(2, .waitsShown([.screen, .list, .sound])),
            .presented(shown, .presented(handle: "h", note: nil), again: false, at: noon),
        ])
        #expect(try prune(at: noon.adding(milliseconds: 999)) == 0)
        #expect(try prune(at: noon.adding(milliseconds: 1000)) == 1)
        #expect(try store.outbox() == ["2 presented", "1 expired"])
        #expect(try prune(at: noon.adding(milliseconds: 31 * 86_400_000)) == 1)
        #expect(try store.outbox().last == "2 expired")
    }

    @Test func `one whose tap waits for an answer is not ended`() throws {
        _ = try store.commit([
            arrival(1),
            .tapped(
                NotificationID(rawValue: 1), action: NotificationAction.open, text: nil, activationToken: nil, at: noon),
        ])
        #expect(try prune(waiting: 0, at: noon.adding(milliseconds: 31 * 86_400_000)) == 0)
    }

    @Test func `a damaged file is put aside and a new store begun`() throws {
        let path = folder.path("damaged.sqlite")
        try Data(repeating: 0x5A, count: 8192).write(to: URL(fileURLWithPath: path))
        let opened = try AgentStore.open(path: path, now: noon)
        #expect(opened.aside == path + ".corrupt-2027-01-15T080000.000Z")
        #expect(try Data(contentsOf: URL(fileURLWithPath: try #require(opened.aside))).count == 8192)
        #expect(try opened.store.commit([arrival(1)]).count == 1)
    }

    @Test func `forgetting the identity keeps what waits for apps`() throws {
        let device = try #require(DeviceID(7))
        try store.save(DeviceIdentity(device: device, secret: .max))
        try store.save("ab", app: app, team: TeamID(rawValue: "ALDABADEMO"), environment: .sandbox)
        try store.save(nil, app: "com.example.other", team: TeamID(rawValue: "ALDABADEMO"), environment: .sandbox)
        _ = try store.commit([arrival(1)])
        #expect(try store.read { try $0.identity() } == DeviceIdentity(device: device, secret: .max))
        #expect(try store.read { try $0.registration(app: app, environment: .sandbox) } == .token("ab"))
        try store.forgetIdentity()
        #expect(try store.read { try $0.identity() } == nil)
        #expect(try store.read { try $0.registration(app: app, environment: .sandbox) } == .unknown)
        #expect(try store.read { try $0.registration(app: "com.example.other", environment: .sandbox) } == .ended)
        #expect(try store.read { try $0.unconfirmed() }.isEmpty)
        #expect(try store.read { try $0.waiting(app: app, after: 0, limit: 10) }.count == 1)
    }
}
