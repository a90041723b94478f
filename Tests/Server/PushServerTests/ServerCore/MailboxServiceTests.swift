import APNsProtocol
import AldabaTestSupport
import Logging
import NIOCore
import NIOPosix
import PushCore
import Synchronization
import Testing

@testable import PushServer

@Suite struct MailboxServiceTests {
    @Test func `a notification is accepted once it is durable, and waits`() async throws {
        try await withServer { server in
            let verdict = try await server.accept(server.acceptance(ticket: 5))
            let id = try #require(verdict.id)
            #expect(verdict.ticket == 5)
            #expect(try await server.page().map(\.id) == [id])
            let timeline = try #require(try await server.timeline(id))
            #expect(timeline.entries.map(\.state) == [.accepted, .stored])
        }
    }

    @Test func `what cannot be committed is refused, and nothing of it is delivered or kept`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            server.store.isFailing.store(true)
            #expect(try await server.accept(server.acceptance()).id == nil)
            server.store.isFailing.store(false)
            let id = try #require(try await server.accept(server.acceptance()).id)
            #expect(await connection.next()?.map(\.id) == [id])
            #expect(try await server.page().map(\.id) == [id])
        }
    }

    @Test func `a login that cannot be committed opens no session`() async throws {
        try await withServer { server in
            server.store.isFailing.store(true)
            guard case .unavailable = await server.loginVerdict(RecordingConnection()) else {
                Issue.record("the login was answered although it could not be committed")
                return
            }
            server.store.isFailing.store(false)
            #expect(server.service.presence.count == 0)
        }
    }

    @Test func `the same apns-id for the same token is the same notification`() async throws {
        try await withServer { server in
            let id: APNsID = "C0FFEE00-0000-4000-8000-000000000001"
            let first = try await server.accept(server.acceptance(apnsID: id))
            let second = try await server.accept(server.acceptance(apnsID: APNsID(rawValue: id.lookUpKey)))
            #expect(first.id != nil)
            #expect(first.id == second.id)
            #expect(try await server.page().count == 1)
            server.clock.advance(milliseconds: 24 * 3_600_000 + 1)
            let third = try await server.accept(server.acceptance(apnsID: id))
            #expect(third.id != nil && third.id != first.id)
            #expect(try await server.timelines.timelines(of: id.rawValue, team: nil).count == 2)
        }
    }

    @Test func `other content under the same apns-id is another notification, and both timelines say so`() async throws
    {
        try await withServer { server in
            let name: APNsID = "c0ffee00-0000-4000-8000-000000000001"
            func content(_ text: String) -> PushContent { .apns(Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8)) }
            func accept(_ text: String, collapseID: String? = nil) async throws -> NotificationID {
                try #require(
                    try await server.accept(
                        server.acceptance(apnsID: name, collapseID: collapseID, content: content(text))
                    ).id)
            }
            let first = try await accept("milk")
            let second = try await accept("bread")
            let third = try await accept("milk", collapseID: "list")
            #expect(Set([first, second, third]).count == 3)
            #expect(try await accept("milk") == first)
            #expect(try await accept("bread") == second)
            #expect(try await server.page().map(\.id) == [first, second, third])
            let notes = try await server.timelines.timelines(of: name.rawValue, team: nil).map {
                $0.entries.compactMap(\.note)
            }
            func later(_ id: NotificationID) -> String {
                "other content was accepted under the same apns-id, notification \(id)"
            }
            func earlier(_ id: NotificationID) -> String {
                "its apns-id was used before for other content, notification \(id)"
            }
            #expect(notes == [[later(second)], [earlier(first), later(third)], [earlier(second)]])
        }
    }

    @Test func `a repetition with another expiration is the same notification`() async throws {
        try await withServer { server in
            let name: APNsID = "c0ffee00-0000-4000-8000-000000000001"
            let soon = server.clock.now.adding(milliseconds: 60_000)
            let first = try await server.accept(server.acceptance(apnsID: name))
            let second = try await server.accept(server.acceptance(apnsID: name, expiry: .until(soon)))
            #expect(first.id != nil && first.id == second.id)
        }
    }

    @Test func `a welcome tells whether there is something to read: a notification, or a notice alone`() async throws {
        try await withServer { server in
            func hasWaiting() async throws -> Bool {
                guard case .welcome(let session, let hasWaiting) = await server.loginVerdict(RecordingConnection())
                else { throw FailingStore.Failure() }
                server.service.close(session)
                return hasWaiting
            }
            #expect(try await !hasWaiting())
            let id = try #require(try await server.accept(server.acceptance()).id)
            #expect(try await hasWaiting())
            let session = try await server.login(RecordingConnection())
            server.service.sent(session, [id])
            await withCheckedContinuation { continuation in
                server.service.withdraw(id, of: server.credentials.device) { _ in continuation.resume() }
            }
            let notice = try #require(try await server.page().first?.id)
            #expect(try await hasWaiting())
            let last = try await server.login(RecordingConnection())
            #expect(await server.acknowledge(last, [notice]))
            #expect(try await !hasWaiting())
        }
    }

    @Test func `a connected device gets what is committed, in order`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            var ids: [NotificationID] = []
            for _ in 0..<5 { ids.append(try #require(try await server.accept(server.acceptance()).id)) }
            var delivered: [NotificationID] = []
            while delivered.count < 5, let next = await connection.next() { delivered += next.map(\.id) }
            #expect(delivered == ids)
        }
    }

    @Test func `the newest session wins, and closing the older one leaves it alone`() async throws {
        try await withServer { server in
            let older = RecordingConnection()
            let newer = RecordingConnection()
            let first = try await server.login(older)
            let second = try await server.login(newer)
            #expect(older.wasSuperseded.load())
            #expect(second.epoch > first.epoch)
            server.service.close(first)
            let id = try #require(try await server.accept(server.acceptance()).id)
            #expect(await newer.next()?.map(\.id) == [id])
        }
    }

    @Test(arguments: [true, false])
    func `a wrong secret and an unknown device are refused alike`(deviceIsKnown: Bool) async throws {
        try await withServer { server in
            let device = deviceIsKnown ? server.credentials.device : try #require(DeviceID(4))
            let verdict = await server.loginVerdict(RecordingConnection(), device: device, secret: 1)
            guard case .refused = verdict else {
                Issue.record("the login was not refused")
                return
            }
        }
    }

    @Test func `an acknowledgement ends the waiting and is in the timeline`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let id = try #require(try await server.accept(server.acceptance()).id)
            server.service.sent(session, [id])
            #expect(await server.acknowledge(session, [id]))
            #expect(try await server.page().isEmpty)
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .stored, .sent, .acked])
        }
    }

    @Test func `what a login names is deleted before the rest is paged`() async throws {
        try await withServer { server in
            let first = try #require(try await server.accept(server.acceptance()).id)
            let second = try #require(try await server.accept(server.acceptance()).id)
            _ = try await server.login(RecordingConnection(), received: [first])
            #expect(try await server.page().map(\.id) == [second])
        }
    }

    @Test func `one attempt to an absent device ends as dropped, and says so`() async throws {
        try await withServer { server in
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            await server.service.stop()
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .dropped(.offline)])
            #expect(try await server.page().isEmpty)
        }
    }

    @Test func `one attempt to a present device is delivered and never stored`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            let session = try await server.login(connection)
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            #expect(await connection.next()?.map(\.id) == [id])
            server.service.attempts([id], became: .sent)
            server.service.attempts([id], became: .acknowledged)
            await server.settle(session)
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .sent, .acked])
            #expect(try await server.page().isEmpty)
        }
    }

    @Test func `too many timelines of single attempts are counted as not recorded`() async throws {
        var settings = MailboxService.Settings()
        // One look at the queue while it fills, and no other.
        settings.notePause = .hours(1)
        try await withServer(settings: settings) { server in
            let ids = (0..<(MailboxCommandQueue.noteLimit * 3)).compactMap { _ in
                server.service.attempt(server.acceptance(expiry: .once))
            }
            let last = try #require(ids.last)
            await server.service.stop()
            let found = try await server.timelines.timelines(of: last.description, team: server.app.team)
            #expect(found.count == 1)
            #expect(found.first?.recorded == false)
            #expect(
                try await server.timelines.timelines(of: last.description, team: TeamID(rawValue: "OTHER12345")).isEmpty
            )
        }
    }

    @Test func `a notification whose time has passed is accepted and ends as expired`() async throws {
        try await withServer { server in
            let past = server.clock.now.adding(milliseconds: -1)
            let id = try #require(try await server.accept(server.acceptance(expiry: .until(past))).id)
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .expired])
        }
    }

    @Test func `receipts are recorded once, and only for the device's own notifications`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let foreign = try #require(try await server.accept(server.acceptance(device: 9)).id)
            let session = try await server.login(RecordingConnection())
            let entry = TimelineEntry(at: server.clock.now.adding(milliseconds: 1), state: .handed, source: .app)
            for _ in 0..<2 {
                let outcome = await withCheckedContinuation { continuation in
                    server.service.record(
                        [Receipt(id: id, entry: entry), Receipt(id: foreign, entry: entry)], of: session
                    ) { continuation.resume(returning: $0) }
                }
                #expect(outcome == .durable(ignored: 1))
            }
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .stored, .handed])
            #expect(try await server.timeline(foreign)?.entries.map(\.state) == [.accepted, .stored])
        }
    }

    @Test func `an ended registration ends its mail with the reason`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            _ = server.service.submit(.unregister(server.credentials.device, server.app.id, .sandbox))
            await server.settle(session)
            #expect(
                try await server.timeline(id)?.entries.map(\.state) == [.accepted, .stored, .dropped(.unregistered)])
        }
    }

    @Test func `a refused request is found under its apns-id with what was wrong`() async throws {
        try await withServer { server in
            let refusal = APNsRejection(.payloadEmpty, note: "byte 5: expected ':'")
            _ = server.service.recordRefusal(
                refusal, team: server.app.team, topic: "com.example.todo",
                apnsID: "C0FFEE00-0000-4000-8000-000000000002")
            await server.service.stop()
            let found = try await server.timelines.timelines(of: "c0ffee00-0000-4000-8000-000000000002", team: nil)
            #expect(found.first?.entries.map(\.state) == [.failed("PayloadEmpty")])
            #expect(found.first?.entries.first?.note == "byte 5: expected ':'")
        }
    }
}
