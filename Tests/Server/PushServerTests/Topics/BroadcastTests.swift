import APNsProtocol
import AldabaTestSupport
import Logging
import NIOCore
import NIOPosix
import PushCore
import StoreContract
import StoreMemory
import Testing

@testable import PushServer

/// A server with one app, on a store in memory.
struct TopicWorld {
    let store = MemoryStore()
    let clock = ManualClock()
    let service: MailboxService
    let tokens: TokenDirectory
    let apps: AppDirectory
    let broadcasts: Broadcasts
    let subscriptions: TopicSubscriptions
    let app: RegisteredApp
    let team = TeamID(rawValue: "TEAM123456")
    let topic: TopicName

    init(_ loop: any EventLoop) async throws {
        topic = try TopicName("news")
        app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy(), at: clock.now)
        service = try MailboxService(
            store: store, node: 0, loop: loop, settings: MailboxService.Settings(), clock: clock.function,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        apps = AppDirectory(store: store, clock: clock.function)
        tokens = TokenDirectory(
            store: store, sealer: try #require(DeviceTokenSealer(keys: [Array(repeating: 7, count: 32)])))
        broadcasts = Broadcasts(store: store, mailboxes: service, clock: clock.function)
        subscriptions = TopicSubscriptions(
            store: store, apps: apps, tokens: tokens, delivery: service, clock: clock.function)
    }

    /// A device on which the app is registered.
    struct Member {
        let credentials: DeviceCredentials
        let token: String
    }

    func member(_ number: UInt64) async throws -> Member {
        let credentials = DeviceCredentials(device: try #require(DeviceID(number)), secret: 0xFEED)
        #expect(try await store.addDevice(credentials.device, secretHash: credentials.secretHash, at: clock.now))
        return Member(credentials: credentials, token: try await register(credentials.device))
    }

    func register(_ device: DeviceID) async throws -> String {
        let registration = try await store.register(
            device: device, app: app.id, environment: .sandbox, at: clock.now)
        let subject = TokenSubject(
            cell: 0, device: device, app: app.id, environment: .sandbox, generation: registration.generation)
        try tokens.registrationIs(registration, of: subject)
        return try tokens.sealer.seal(subject).description
    }

    func join(_ members: [Member], _ name: String = "news") async throws {
        let outcomes = try await subscriptions.subscribe(
            members.map(\.token), to: try TopicName(name), team: team)
        #expect(outcomes.allSatisfy { $0 == .done })
    }

    func leave(_ member: Member, _ name: String = "news") async throws {
        #expect(try await subscriptions.unsubscribe([member.token], from: try TopicName(name), team: team) == [.done])
    }

    func send(_ text: String, to target: TopicTarget? = nil, expiry: Expiry = .policyDefault) async throws
        -> NotificationID
    {
        try await broadcasts.send(
            TopicMessage(to: target ?? .topic(topic), expiry: expiry) { id in
                .fcm(Array("\(text) as \(id)".utf8))
            }, from: team)
    }

    @discardableResult
    func login(_ member: Member, _ connection: StreamedConnection = StreamedConnection()) async throws
        -> DeviceSessionID
    {
        let login = DeviceLogin(device: member.credentials.device, secret: member.credentials.secret, received: [])
        let verdict = await withCheckedContinuation { continuation in
            service.open(login, connection: connection) { continuation.resume(returning: $0) }
        }
        guard case .welcome(let session, _) = verdict else { throw CancellationError() }
        return session
    }

    func waiting(_ member: Member) async throws -> [OutgoingNotification] {
        try await withCheckedThrowingContinuation { continuation in
            store.page(device: member.credentials.device, after: nil, limit: 1000, now: clock.now) {
                continuation.resume(with: $0)
            }
        }
    }

    func texts(_ member: Member) async throws -> [String] {
        try await waiting(member).filter { $0.notice == nil }.map {
            String(String(decoding: $0.payload, as: UTF8.self).prefix { $0 != " " })
        }
    }

    func timeline(_ id: NotificationID) async throws -> NotificationTimeline? {
        try await Timelines(store: store, mailboxes: service).timelines(of: id.description, team: nil).first
    }
}

private func withWorld(_ body: (TopicWorld) async throws -> Void) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let world = try await TopicWorld(group.next())
    try await body(world)
    await world.service.stop()
    try await group.shutdownGracefully()
}

@Suite struct BroadcastTests {
    @Test func `who is connected gets it at once, who is not when they connect, each once`() async throws {
        try await withWorld { world in
            let (here, away) = (try await world.member(1), try await world.member(2))
            let connection = StreamedConnection()
            try await world.login(here, connection)
            try await world.join([here, away])
            let id = try await world.send("hello")
            let delivered = try #require(await connection.next())
            #expect(String(decoding: delivered.payload, as: UTF8.self) == "hello as \(id)")
            #expect(delivered.lane == .fcm && delivered.id > id)
            #expect(try await world.waiting(away).isEmpty)
            for _ in 1...2 { try await world.login(away) }
            #expect(try await world.texts(away) == ["hello"])
            try await world.login(here)
            #expect(try await world.texts(here) == ["hello"])
            let sums = try #require(try await world.timeline(id))
            #expect(sums.entries.map(\.state) == [.accepted] && sums.broadcast?.targeted == 2)
            #expect(sums.broadcast?.audience == "/topics/news" && sums.team == world.team)
            let copy = try #require(try await world.timeline(delivered.id))
            #expect(copy.entries.first?.note == "a copy of the broadcast \(id)")
        }
    }

    @Test(arguments: [true, false])
    func `a device that comes back after a month gets the count of the broadcasts that expired`(isSwept: Bool)
        async throws
    {
        try await withWorld { world in
            let day: Int64 = 24 * 3_600_000
            func leave(_ member: TopicWorld.Member, days: Int64) async throws {
                world.service.close(try await world.login(member))
                try await world.service.flushNotes()
                world.clock.advance(milliseconds: days * day)
            }
            func send(_ text: String, to target: TopicTarget? = nil) async throws {
                _ = try await world.send(
                    text, to: target, expiry: .until(world.clock.now.adding(milliseconds: day)))
            }
            let (away, other) = (try await world.member(1), try await world.member(2))
            try await send("before the subscription")
            try await world.join([away, other])
            let start = world.clock.now.adding(milliseconds: day)
            try await send("before the absence")
            world.clock.advance(milliseconds: 2 * day)
            try await world.broadcasts.sweep()
            try await leave(away, days: 3)
            let first = world.clock.now.adding(milliseconds: day)
            try await send("one")
            try await send("two", to: .condition(parsing: "'news' in topics || 'sport' in topics"))
            try await send("nobody's", to: .condition(parsing: "'sport' in topics"))
            _ = try await world.send("an attempt", expiry: .once)
            world.clock.advance(milliseconds: 35 * day)
            if isSwept { try await world.broadcasts.sweep() }
            _ = try await world.send("three")
            try await leave(away, days: 1)
            let page = try await world.waiting(away)
            #expect(page.compactMap(\.notice) == [.deleted(count: 2, since: first)])
            #expect(page.allSatisfy { $0.lane == .fcm })
            #expect(try await world.texts(away) == ["three"])
            let back = try await world.login(away)
            await withCheckedContinuation { continuation in
                world.service.acknowledged(back, page.map(\.id)) { _ in continuation.resume() }
            }
            world.service.close(back)
            try await world.service.flushNotes()
            world.clock.advance(milliseconds: 40 * day)
            try await world.broadcasts.sweep()
            try await world.login(away)
            #expect(try await world.waiting(away).isEmpty, "each is counted once")
            try await world.login(other)
            #expect(try await world.waiting(other).compactMap(\.notice) == [.deleted(count: 4, since: start)])
        }
    }

    @Test(arguments: ["'news' in topics", "'news' in topics || 'sport' in topics", "!('sport' in topics)"])
    func `what is for one app reaches no other app of the team`(condition: String) async throws {
        try await withWorld { world in
            let member = try await world.member(1)
            let other = try await world.store.addApp(
                topic: Topic(rawValue: "com.example.other"), team: world.team, policy: MailboxPolicy(),
                at: world.clock.now)
            try await world.join([member])
            for (app, text) in [(other.id, "theirs"), (world.app.id, "ours")] {
                _ = try await world.broadcasts.send(
                    TopicMessage(to: .condition(parsing: condition), of: app, pushType: .background) { _ in
                        .fcm(Array(text.utf8))
                    }, from: world.team)
            }
            try await world.login(member)
            #expect(try await world.texts(member) == ["ours"])
            #expect(try await world.waiting(member).map(\.pushType) == [.background])
        }
    }

    @Test func `a subscription that began while a broadcast went round is no part of it`() async throws {
        try await withWorld { world in
            let (first, second) = (try await world.member(1), try await world.member(2))
            try await world.join([first])
            _ = try await world.send("one")
            try await world.join([second])
            _ = try await world.send("two")
            try await world.leave(first)
            try await world.join([first])
            for member in [first, second] { try await world.login(member) }
            #expect(try await world.texts(first).isEmpty)
            #expect(try await world.texts(second) == ["two"])
        }
    }

    @Test func `who stays connected gets what their subscriptions and registrations are by then`() async throws {
        try await withWorld { world in
            let member = try await world.member(1)
            let connection = StreamedConnection()
            func next() async -> String? {
                await connection.next().map { String(String(decoding: $0.payload, as: UTF8.self).prefix { $0 != " " }) }
            }
            try await world.login(member, connection)
            try await world.join([member])
            for text in ["one", "two"] {
                _ = try await world.send(text)
                #expect(await next() == text)
            }
            try await world.leave(member)
            _ = try await world.send("away")
            try await world.join([member])
            _ = try await world.send("three")
            #expect(await next() == "three")

            let enrolment = Enrolment(
                store: world.store, apps: world.apps, tokens: world.tokens, mailboxes: world.service, cell: 0,
                clock: world.clock.function)
            let second = Topic(rawValue: "com.example.second")
            _ = try await world.store.addApp(
                topic: second, team: world.team, policy: MailboxPolicy(), at: world.clock.now)
            let everyone = try TopicTarget.condition(parsing: "!('nothing' in topics)")
            _ = try await world.send("four", to: everyone)
            #expect(await next() == "four")
            let outcome = try await enrolment.register(
                member.credentials, topic: second, team: world.team, environment: .sandbox)
            guard case .token = outcome else { throw CancellationError() }
            _ = try await world.send("five", to: everyone)
            for _ in 1...2 { #expect(await next() == "five") }
            _ = try await enrolment.unregister(member.credentials, topic: second, environment: .sandbox)
            for text in ["six", "seven"] {
                _ = try await world.send(text, to: everyone)
                #expect(await next() == text, "once")
            }
        }
    }

    @Test func `what a device left since a broadcast does not bring it in`() async throws {
        try await withWorld { world in
            let member = try await world.member(1)
            try await world.join([member], "b")
            _ = try await world.send("not-b", to: try .condition(parsing: "!('b' in topics)"))
            try await world.leave(member, "b")
            try await world.login(member)
            #expect(try await world.texts(member).isEmpty)
            _ = try await world.send("now", to: try .condition(parsing: "!('b' in topics)"))
            try await world.login(member)
            #expect(try await world.texts(member) == ["now"])
        }
    }

    @Test func `an ended registration takes its subscriptions along`() async throws {
        try await withWorld { world in
            let member = try await world.member(1)
            try await world.join([member])
            _ = try await world.send("lost")
            _ = try await world.store.endRegistration(
                device: member.credentials.device, app: world.app.id, environment: .sandbox, at: world.clock.now)
            _ = try await world.register(member.credentials.device)
            try await world.login(member)
            #expect(try await world.texts(member).isEmpty)
            let again = TopicWorld.Member(
                credentials: member.credentials, token: try await world.register(member.credentials.device))
            #expect(
                try await world.subscriptions.unsubscribe([again.token], from: world.topic, team: world.team)
                    == [.unchanged])
            #expect(
                try await world.subscriptions.subscribe([member.token], to: world.topic, team: world.team)
                    == [.unregistered])
        }
    }

    @Test func `what has expired, and what was withdrawn, reaches nobody any more`() async throws {
        try await withWorld { world in
            let (here, away) = (try await world.member(1), try await world.member(2))
            try await world.join([here, away])
            _ = try await world.send("short", expiry: .until(world.clock.now.adding(milliseconds: 1000)))
            let regretted = try await world.send("regretted")
            try await world.login(here)
            #expect(try await world.texts(here) == ["short", "regretted"])
            world.clock.advance(milliseconds: 2000)
            #expect(try await world.broadcasts.withdrawBroadcast(regretted) == .withdrawn)
            #expect(try await world.broadcasts.withdrawBroadcast(regretted) == .ended)
            try await world.login(away)
            #expect(try await world.texts(away).isEmpty)
            try await world.broadcasts.resume()
            #expect(try await world.texts(here).isEmpty)
            let states = try await world.timeline(regretted)?.entries.map(\.state)
            #expect(states == [.accepted, .withdrawn])
            #expect(try await world.timeline(regretted)?.broadcast?.states["withdrawn"] == 1)
        }
    }

    @Test func `what is delivered once or never is for those alone who are there`() async throws {
        try await withWorld { world in
            let (here, away) = (try await world.member(1), try await world.member(2))
            let connection = StreamedConnection()
            try await world.login(here, connection)
            try await world.join([here, away])
            _ = try await world.send("now", expiry: .once)
            #expect(await connection.next().map { String(decoding: $0.payload.prefix(3), as: UTF8.self) } == "now")
            try await world.login(away)
            #expect(try await world.texts(away).isEmpty)
            #expect(try await world.waiting(here).isEmpty)
        }
    }

    @Test func `however many broadcasts wait for a device, it gets them in order, some at a time`() async throws {
        try await withWorld { world in
            let member = try await world.member(1)
            try await world.join([member])
            let count = DeviceAudience.broadcastLimit + 20
            for number in 0..<count { _ = try await world.send("\(number)") }
            let connection = StreamedConnection()
            let session = try await world.login(member, connection)
            let first = try await world.texts(member)
            #expect(
                Array(first.prefix(DeviceAudience.broadcastLimit))
                    == (0..<DeviceAudience.broadcastLimit).map(String.init))
            for _ in 0..<20 { _ = await connection.next() }
            #expect(try await world.texts(member) == (0..<count).map(String.init))
            world.service.close(session)
        }
    }

    @Test func `a thousand registrations join at once, and each has its own answer`() async throws {
        try await withWorld { world in
            var members: [TopicWorld.Member] = []
            for number in 1...1000 { members.append(try await world.member(UInt64(number))) }
            _ = try await world.store.endRegistration(
                device: members[7].credentials.device, app: world.app.id, environment: .sandbox, at: world.clock.now)
            // Nothing was looked up by this directory.
            let fresh = TopicSubscriptions(
                store: world.store, apps: world.apps,
                tokens: TokenDirectory(store: world.store, sealer: world.tokens.sealer), delivery: world.service,
                clock: world.clock.function)
            let tokens = members.map(\.token)
            let outcomes = try await fresh.subscribe(tokens, to: world.topic, team: world.team)
            #expect(outcomes == tokens.indices.map { $0 == 7 ? .unregistered : .done })
            let left = try await fresh.unsubscribe(tokens, from: world.topic, team: world.team)
            #expect(left == outcomes)
        }
    }

    @Test func `a registration has a bounded number of topics, and another team's is foreign`() async throws {
        try await withWorld { world in
            let member = try await world.member(1)
            for number in 0..<TopicSubscriptions.topicLimit { try await world.join([member], "t\(number)") }
            #expect(
                try await world.subscriptions.subscribe([member.token], to: world.topic, team: world.team)
                    == [.tooManyTopics])
            #expect(
                try await world.subscriptions.subscribe(
                    [member.token, "x", String(repeating: "ab", count: 32)], to: world.topic,
                    team: TeamID(rawValue: "OTHERTEAM1")) == [.foreign, .invalid, .unregistered])
        }
    }
}
