import AldabaTestSupport
import PushCore
import PushServer
import Testing

/// What every ``TopicStore`` must do, together with the writer's part of a ``NotificationStore``.
package struct TopicStoreContract<Store: TopicStore & NotificationStore> {
    let store: Store
    let register: any RegisterStore
    let app: RegisteredApp
    let device: DeviceID
    let other: DeviceID
    let subject: TokenSubject
    let otherSubject: TokenSubject
    let now = Timestamp(seconds: 1_780_272_000)
    let news: TopicName
    let sports: TopicName

    /// Prepares a fresh store with one app, registered on two devices.
    package init(_ store: Store, register: any RegisterStore) async throws {
        self.store = store
        self.register = register
        news = try TopicName("news")
        sports = try TopicName("sports")
        app = try await register.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
            at: now)
        device = try #require(DeviceID(77))
        other = try #require(DeviceID(78))
        for device in [device, other] {
            #expect(try await register.addDevice(device, secretHash: [1, 2, 3], at: now))
            _ = try await register.register(device: device, app: app.id, environment: .sandbox, at: now)
        }
        subject = TokenSubject(cell: 0, device: device, app: app.id, environment: .sandbox, generation: 0)
        otherSubject = TokenSubject(cell: 0, device: other, app: app.id, environment: .sandbox, generation: 0)
    }

    private func member(_ subject: TokenSubject, _ team: TeamID? = nil) -> TopicMember {
        TopicMember(subject: subject, team: team ?? app.team)
    }

    private func join(_ subject: TokenSubject, _ topic: TopicName) async throws {
        #expect(try await store.subscribe([member(subject)], to: topic, limit: 10, at: now) == [.subscribed])
    }

    private func send(
        _ id: Int64, _ condition: String = "'news' in topics", expiresIn: Int64 = 60_000
    ) async throws -> Broadcast {
        try await store.insertBroadcast(
            BroadcastDraft(
                id: NotificationID(rawValue: id), team: app.team, to: .topics(try TopicCondition(parsing: condition)),
                written: condition, collapseID: "c", content: .fcm(Array("{}".utf8)), acceptedAt: now,
                expiresAt: now.adding(milliseconds: expiresIn)))
    }

    private func audience(_ device: DeviceID? = nil) throws -> (DeviceAudience, Prefetched) {
        var request = PrefetchRequest(acceptedSince: now)
        request.audiences = [device ?? self.device]
        let found = try store.prefetch(request)
        return (try #require(found.audiences[device ?? self.device]), found)
    }

    private func broadcasts(_ device: DeviceID? = nil) throws -> [Int64] {
        try audience(device).0.broadcasts.map(\.rawValue)
    }

    private func copy(_ id: Int64, of broadcast: Int64, for device: DeviceID) -> NotificationRecord {
        NotificationRecord(
            id: NotificationID(rawValue: id),
            subject: TokenSubject(cell: 0, device: device, app: app.id, environment: .sandbox, generation: 0),
            apnsID: nil, pushType: nil, priority: .immediate, collapseID: nil, acceptedAt: now,
            expiresAt: now.adding(milliseconds: 60_000), waits: true, lane: .fcm,
            payload: .shared(PayloadID(rawValue: broadcast)))
    }

    func `a subscription is there once, until it ends`() async throws {
        try await join(subject, news)
        #expect(
            try await store.subscribe([member(subject), member(otherSubject)], to: news, limit: 10, at: now)
                == [.known, .subscribed])
        try await join(subject, sports)
        #expect(try await store.subscriptions(of: subject).map(\.topic) == [news, sports])
        #expect(try await store.subscriptions(of: subject).first?.since == now)
        #expect(try await store.unsubscribe([member(subject), member(subject)], from: news) == [true, false])
        #expect(try await store.subscriptions(of: subject).map(\.topic) == [sports])
        #expect(try await store.subscriptions(of: otherSubject).map(\.topic) == [news])
        #expect(try await store.unsubscribe([member(subject)], from: try TopicName("unknown")) == [false])
    }

    func `a registration has so many topics and no more`() async throws {
        for number in 0..<3 {
            let topic = try TopicName("t\(number)")
            let outcome = try await store.subscribe([member(subject)], to: topic, limit: 2, at: now)
            #expect(outcome == [number < 2 ? .subscribed : .tooManyTopics])
        }
    }

    func `topics of one name are different topics of each team`() async throws {
        let foreign = TeamID(rawValue: "OTHER12345")
        #expect(try await store.subscribe([member(subject, foreign)], to: news, limit: 10, at: now) == [.subscribed])
        _ = try await send(10)
        #expect(try broadcasts().isEmpty)
    }

    func `subscriptions leave with their registration, their app and their device`() async throws {
        let third = try #require(DeviceID(79))
        #expect(try await register.addDevice(third, secretHash: [1], at: now))
        _ = try await register.register(device: third, app: app.id, environment: .sandbox, at: now)
        let thirdSubject = TokenSubject(cell: 0, device: third, app: app.id, environment: .sandbox, generation: 0)
        for subject in [subject, otherSubject, thirdSubject] { try await join(subject, news) }
        _ = try await register.endRegistration(device: device, app: app.id, environment: .sandbox, at: now)
        #expect(try await register.revokeDevice(other, at: now))
        _ = try await register.removeApp(topic: app.topic, at: now)
        for subject in [subject, otherSubject, thirdSubject] {
            #expect(try await store.subscriptions(of: subject).isEmpty)
            #expect(try await store.subscribe([member(subject)], to: news, limit: 10, at: now) == [.ended])
        }
        _ = try await register.addApp(topic: app.topic, team: app.team, policy: MailboxPolicy(), at: now)
        let again = try await register.register(device: device, app: app.id, environment: .sandbox, at: now)
        #expect(again.generation == 1)
        var renewed = subject
        renewed.generation = 1
        #expect(try await store.subscriptions(of: renewed).isEmpty)
        #expect(try audience().0.memberships.isEmpty)
    }

    func `a device is told of the broadcasts beyond its cursor that may concern it`() async throws {
        _ = try await send(9)
        try await join(subject, news)
        let first = try await send(10)
        _ = try await send(11, "'sports' in topics")
        let everyone = try await send(12, "!('sports' in topics)")
        let last = try await send(13, "'sports' in topics || 'news' in topics", expiresIn: 1)
        #expect(first.sequence < everyone.sequence && everyone.sequence < last.sequence)
        let (audience, found) = try audience()
        #expect(audience.broadcasts.map(\.rawValue) == [10, 12, 13] && audience.cursor == 0)
        #expect(audience.registrations.map(\.place) == [AppPlace(app: app.id, environment: .sandbox)])
        #expect(audience.registrations.map(\.team) == [app.team] && audience.registrations[0].registeredAt == now)
        #expect(found.apps[app.id] == app)
        let record = try #require(found.broadcasts[first.id])
        #expect(record.broadcast == first && record.collapseID == "c" && record.content == .fcm(Array("{}".utf8)))
        #expect(try broadcasts(other) == [12])
        try store.apply([.moveCursor(device, to: everyone.sequence)])
        #expect(try broadcasts() == [13])
        try store.apply([.moveCursor(device, to: first.sequence)])
        #expect(try broadcasts() == [13], "a cursor only rises")
        let stranger = try #require(DeviceID(99))
        #expect(try broadcasts(stranger) == [12])
        #expect(try self.audience(stranger).0.registrations.isEmpty)
    }

    func `a device whose subscriptions are known is told of the same broadcasts`() async throws {
        try await join(subject, news)
        try await join(subject, sports)
        try await join(otherSubject, try TopicName("else"))
        _ = try await send(10)
        var known = try audience().0
        known.broadcasts = []
        func found() throws -> (DeviceAudience, Prefetched) {
            var request = PrefetchRequest(acceptedSince: now)
            request.audiences = [device, other]
            request.known[device] = known
            let found = try store.prefetch(request)
            #expect(try found.audiences[other] == audience(other).0)
            return (try #require(found.audiences[device]), found)
        }
        known.cursor = try #require(try audience().1.broadcasts[NotificationID(rawValue: 10)]).broadcast.sequence
        #expect(try found().0 == known)
        let second = try await send(11, "'news' in topics || 'sports' in topics")
        _ = try await send(12, "'else' in topics")
        _ = try await send(13, "!('else' in topics)")
        let (told, read) = try found()
        #expect(told.broadcasts.map(\.rawValue) == [11, 13])
        #expect(told.registrations == known.registrations && told.memberships == known.memberships)
        #expect(read.broadcasts[second.id]?.broadcast == second && read.apps[app.id] == app)
        for number in 0..<300 { _ = try await send(Int64(100 + number), "'else' in topics") }
        #expect(try found().0.broadcasts.map(\.rawValue) == [11, 13], "however far back that is")
        for number in 0..<300 { _ = try await send(Int64(1000 + number), "'news' in topics || 'sports' in topics") }
        let many = try found().0.broadcasts.map(\.rawValue)
        #expect(many == [11, 13] + (0..<DeviceAudience.broadcastLimit - 2).map { Int64(1000 + $0) })
        #expect(try await store.withdrawBroadcast(second.id, at: now))
        #expect(try found().0.broadcasts.first?.rawValue == 13)
    }

    func `at most so many broadcasts are read at once, the first ones`() async throws {
        try await join(subject, news)
        try await join(subject, sports)
        let count = DeviceAudience.broadcastLimit + 5
        for number in 0..<count { _ = try await send(Int64(100 + number), "'news' in topics || 'sports' in topics") }
        #expect(try broadcasts() == (0..<DeviceAudience.broadcastLimit).map { Int64(100 + $0) })
    }

    func `what was left is known while a broadcast has to know it`() async throws {
        try await join(subject, sports)
        let broadcast = try await send(10, "!('sports' in topics)")
        #expect(try await store.unsubscribe([member(subject)], from: sports) == [true])
        let left = try #require(try audience().0.memberships.first)
        #expect(left.joined < broadcast.sequence && (left.left ?? 0) > broadcast.sequence)
        #expect(
            try await store.endBroadcasts(
                at: now.adding(milliseconds: 60_000), keptSince: now, countedSince: now, limit: 10) == false)
        _ = try await send(11, "!('sports' in topics)")
        #expect(try audience().0.memberships.isEmpty)
    }

    func `what has expired or was withdrawn is found no more`() async throws {
        try await join(subject, news)
        _ = try await send(10, expiresIn: 1000)
        _ = try await send(11)
        let eleven = NotificationID(rawValue: 11)
        #expect(
            try await store.endBroadcasts(
                at: now.adding(milliseconds: 1000), keptSince: now, countedSince: now, limit: 10) == false)
        #expect(try broadcasts() == [11])
        #expect(try await store.withdrawBroadcast(eleven, at: now))
        #expect(try await store.withdrawBroadcast(eleven, at: now) == false)
        #expect(try await store.withdrawBroadcast(NotificationID(rawValue: 5), at: now) == false)
        #expect(try broadcasts().isEmpty)
        #expect(try await store.withdrawnBroadcasts() == [eleven])
        try await store.endWithdrawnBroadcast(eleven, at: now)
        #expect(try await store.withdrawnBroadcasts().isEmpty)
        let timeline = try #require(try await store.timelines(id: eleven, apnsID: nil, team: app.team).first)
        #expect(timeline.entries.map(\.state) == [.accepted, .withdrawn])
        #expect(
            try await store.timelines(id: eleven, apnsID: nil, team: TeamID(rawValue: "OTHER12345")).isEmpty)
    }

    func `a device that was away is told what expired since it was last seen`() async throws {
        func expired(since seen: Timestamp?, known: DeviceAudience? = nil) throws -> [Int64] {
            var request = PrefetchRequest(acceptedSince: now)
            request.audiences = [device]
            request.away[device] = seen
            let found = try store.prefetch(request)
            let audience = try #require(found.audiences[device])
            #expect(audience.expired.isEmpty || (!audience.registrations.isEmpty && found.apps[app.id] == app))
            return audience.expired.map(\.broadcast.id.rawValue)
        }
        func end(_ milliseconds: Int64, countedSince: Int64) async throws {
            _ = try await store.endBroadcasts(
                at: now.adding(milliseconds: milliseconds), keptSince: now,
                countedSince: now.adding(milliseconds: countedSince), limit: 10)
        }
        try await join(subject, news)
        _ = try await send(10, expiresIn: 3000)
        _ = try await send(11, "'news' in topics || 'sports' in topics", expiresIn: 2000)
        _ = try await send(12, "!('sports' in topics)", expiresIn: 2500)
        _ = try await send(13, "'sports' in topics", expiresIn: 2500)
        _ = try await send(14, expiresIn: 9000)
        let withdrawn = try await send(15, expiresIn: 2000)
        #expect(try await store.withdrawBroadcast(withdrawn.id, at: now))
        #expect(try expired(since: now).isEmpty)
        try await end(5000, countedSince: 0)
        #expect(try expired(since: now) == [11, 12, 10])
        #expect(try expired(since: nil).isEmpty)
        #expect(try expired(since: now.adding(milliseconds: 2500)) == [10])
        try await end(5000, countedSince: 2500)
        #expect(try expired(since: now) == [12, 10])
        let last = try #require(try audience().1.broadcasts[NotificationID(rawValue: 14)]).broadcast.sequence
        try store.apply([.moveCursor(device, to: last)])
        #expect(try expired(since: now).isEmpty, "they were delivered")
    }

    func `a broadcast for a list is there once under its name, and every device is told of it`() async throws {
        let list = RecipientList(number: 7, place: AppPlace(app: app.id, environment: .production))
        func send(_ id: Int64, named name: String) async throws -> Broadcast {
            try await store.insertBroadcast(
                BroadcastDraft(
                    id: NotificationID(rawValue: id), team: app.team, name: name, to: .list(list), written: "a list",
                    pushType: .background, content: .apns(Array("{}".utf8)), acceptedAt: now,
                    expiresAt: now.adding(milliseconds: 60_000)))
        }
        let first = try await send(10, named: "a")
        #expect(first.audience == .list(list))
        #expect(try await send(11, named: "a") == first)
        let second = try await send(12, named: "b")
        #expect(second.sequence > first.sequence)
        let (audience, found) = try audience()
        #expect(audience.broadcasts.map(\.rawValue) == [10, 12] && audience.lists == [])
        #expect(try broadcasts(other) == [10, 12])
        let record = try #require(found.broadcasts[first.id])
        #expect(record.broadcast == first && record.pushType == .background)
        #expect(record.content == .apns(Array("{}".utf8)))
    }

    func `copies share the payload, are counted and are listed`() async throws {
        _ = try await send(10)
        let ten = NotificationID(rawValue: 10)
        try store.apply([
            .insertNotification(copy(21, of: 10, for: device)), .insertNotification(copy(22, of: 10, for: other)),
            .appendLine(TimelineEntry(at: now, state: .acked, source: .server), to: NotificationID(rawValue: 21)),
            .appendLine(
                TimelineEntry(at: now.adding(milliseconds: 1), state: .acked, source: .server),
                to: NotificationID(rawValue: 21)),
        ])
        let sums = try #require(try await store.timelines(id: ten, apnsID: nil, team: nil).first?.broadcast)
        #expect(sums.targeted == 2 && sums.states == ["acked": 1] && sums.audience == "'news' in topics")
        let copies = try await store.copies(of: ten, after: nil, limit: 10)
        #expect(copies.map(\.id.rawValue) == [21, 22] && copies.map(\.device) == [device, other])
        #expect(copies.allSatisfy { $0.place == AppPlace(app: app.id, environment: .sandbox) && $0.generation == 0 })
        #expect(try await store.copies(of: ten, after: copies[0].id, limit: 1) == [copies[1]])
        let page = try await withCheckedThrowingContinuation { continuation in
            store.page(device: device, after: nil, limit: 5, now: now) { continuation.resume(with: $0) }
        }
        #expect(page.map(\.payload) == [Array("{}".utf8)])
    }

    func `a broadcast's payload stays while it may make copies, and its copies' count while they are kept`()
        async throws
    {
        try await join(subject, news)
        _ = try await send(10, expiresIn: 3_600_000)
        let later = now.adding(milliseconds: 1_000_000)
        while try store.prune(timelinesBefore: Timestamp(rawValue: 0), payloadsBefore: later, now: later, limit: 10) {}
        #expect(try audience().1.broadcasts[NotificationID(rawValue: 10)]?.content == .fcm(Array("{}".utf8)))
        try store.apply([
            .insertNotification(copy(21, of: 10, for: device)),
            .removeWaiting(NotificationID(rawValue: 21), of: device),
        ])
        while try store.prune(timelinesBefore: Timestamp(rawValue: 0), payloadsBefore: later, now: later, limit: 10) {}
        let ten = NotificationID(rawValue: 10)
        #expect(try await store.timelines(id: ten, apnsID: nil, team: nil).first?.broadcast?.targeted == 1)
        let end = now.adding(milliseconds: 3_600_000)
        _ = try await store.endBroadcasts(
            at: end, keptSince: end.adding(milliseconds: 1), countedSince: end.adding(milliseconds: 1), limit: 10)
        #expect(try await store.timelines(id: ten, apnsID: nil, team: nil).count == 1, "its copy is there")
        while try store.prune(timelinesBefore: end, payloadsBefore: end, now: end, limit: 10) {}
        _ = try await store.endBroadcasts(
            at: end, keptSince: end.adding(milliseconds: 1), countedSince: end.adding(milliseconds: 1), limit: 10)
        #expect(try await store.timelines(id: ten, apnsID: nil, team: nil).isEmpty)
    }
}

extension TopicStoreContract {
    /// All that a ``TopicStore`` must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("subscription") { try await $0.`a subscription is there once, until it ends`() },
            ContractRule("limit") { try await $0.`a registration has so many topics and no more`() },
            ContractRule("teams") { try await $0.`topics of one name are different topics of each team`() },
            ContractRule("ends") {
                try await $0.`subscriptions leave with their registration, their app and their device`()
            },
            ContractRule("cursor") {
                try await $0.`a device is told of the broadcasts beyond its cursor that may concern it`()
            },
            ContractRule("known") {
                try await $0.`a device whose subscriptions are known is told of the same broadcasts`()
            },
            ContractRule("slice") { try await $0.`at most so many broadcasts are read at once, the first ones`() },
            ContractRule("leaving") { try await $0.`what was left is known while a broadcast has to know it`() },
            ContractRule("end of a broadcast") { try await $0.`what has expired or was withdrawn is found no more`() },
            ContractRule("expired") {
                try await $0.`a device that was away is told what expired since it was last seen`()
            },
            ContractRule("list") {
                try await $0.`a broadcast for a list is there once under its name, and every device is told of it`()
            },
            ContractRule("copies") { try await $0.`copies share the payload, are counted and are listed`() },
            ContractRule("payload") {
                try await $0
                    .`a broadcast's payload stays while it may make copies, and its copies' count while they are kept`()
            },
        ]
    }
}
