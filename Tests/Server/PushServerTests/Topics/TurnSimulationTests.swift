import AldabaTestSupport
import Logging
import NIOPosix
import PushCore
import StoreContract
import StoreMemory
import Testing

@testable import PushServer

/// Whole histories through the mailbox service, with a store whose commits fail at random: what arrives is what a model says.
@Suite struct TurnSimulationTests {
    @Test(arguments: 0..<30 as Range<UInt64>)
    func `every broadcast makes one copy for each who was in, whatever fails`(seed: UInt64) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let store = StoreContract.FailingStore(MemoryStore())
        var settings = MailboxService.Settings()
        settings.visitLimit = 2
        settings.retryPause = .milliseconds(1)
        let clock = ManualClock()
        let service = try MailboxService(
            store: store, node: 0, loop: group.next(), settings: settings, clock: clock.function,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        var random = SeededRandom(seed: seed)
        let base = store.base
        let app = try await base.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
            at: clock.now)
        let broadcasts = Broadcasts(store: base, mailboxes: service, clock: clock.function)
        let names = [try TopicName("a"), try TopicName("b")]
        let conditions = [
            "'a' in topics", "'b' in topics && 'a' in topics", "!('a' in topics)", "'b' in topics && !('a' in topics)",
        ]
        let subjects = try (1...5).map { number in
            TokenSubject(
                cell: 0, device: try #require(DeviceID(number)), app: app.id, environment: .sandbox, generation: 0)
        }
        for subject in subjects {
            let credentials = DeviceCredentials(device: subject.device, secret: 7)
            #expect(try await base.addDevice(subject.device, secretHash: credentials.secretHash, at: clock.now))
            _ = try await base.register(device: subject.device, app: app.id, environment: .sandbox, at: clock.now)
        }
        var topics: [DeviceID: Set<String>] = [:]
        // Whoever was in and has not left since, by broadcast.
        var expected: [NotificationID: (condition: TopicCondition, then: [DeviceID: Set<String>])] = [:]
        var left: [DeviceID: [NotificationID: Set<String>]] = [:]
        func login(_ device: DeviceID) async {
            _ = await withCheckedContinuation { continuation in
                service.open(
                    DeviceLogin(device: device, secret: 7, received: []), connection: StreamedConnection()
                ) { continuation.resume(returning: $0) }
            }
        }
        func copies(of device: DeviceID) async throws -> [NotificationID] {
            let page = try await withCheckedThrowingContinuation { continuation in
                base.page(device: device, after: nil, limit: 1000, now: clock.now) { continuation.resume(with: $0) }
            }
            return page.compactMap { NotificationID(text: String(decoding: $0.payload, as: UTF8.self)) }
        }
        for _ in 0..<60 {
            let subject = subjects[Int(random.next() % 5)]
            let name = names[Int(random.next() % 2)]
            let member = TopicMember(subject: subject, team: app.team)
            switch random.next() % 8 {
            case 0, 1:
                let outcome = try await service.changeSubscriptions(of: [subject.device]) {
                    try await base.subscribe([member], to: name, limit: 10, at: clock.now)
                }
                if outcome == [.subscribed] { topics[subject.device, default: []].insert(name.text) }
            case 2:
                // What is given to a device before it leaves stays: only who is not connected leaves here.
                let had = try await service.changeSubscriptions(of: [subject.device]) { () -> [NotificationID]? in
                    guard try await base.unsubscribe([member], from: name) == [true] else { return nil }
                    return try await copies(of: subject.device)
                }
                guard let had else { break }
                topics[subject.device, default: []].remove(name.text)
                for id in expected.keys where !had.contains(id) {
                    left[subject.device, default: [:]][id, default: []].insert(name.text)
                }
                // What arrived while it was leaving came from a turn that had begun.
                for id in try await copies(of: subject.device) { left[subject.device]?[id] = nil }
            case 3, 4:
                let text = conditions[Int(random.next() % UInt64(conditions.count))]
                let target = try TopicTarget.condition(parsing: text)
                let id = try await broadcasts.send(
                    TopicMessage(to: target) { .fcm(Array($0.description.utf8)) }, from: app.team)
                expected[id] = (try TopicCondition(parsing: text), topics)
            case 5, 6: await login(subject.device)
            default: store.isFailing.store(random.next() % 2 == 0)
            }
        }
        store.isFailing.store(false)
        try await service.flushNotes()
        for subject in subjects { await login(subject.device) }
        for subject in subjects {
            let device = subject.device
            let got = try await copies(of: device)
            #expect(Set(got).count == got.count, "\(device) got one twice")
            for (id, send) in expected {
                let then = send.then[device] ?? []
                let still = then.subtracting(left[device]?[id] ?? [])
                let isMeant =
                    send.condition.matches { then.contains($0.text) }
                    && send.condition.matches { still.contains($0.text) }
                #expect(got.contains(id) == isMeant, "\(device), \(id), \(then), \(still)")
            }
        }
        await service.stop()
        try await group.shutdownGracefully()
    }
}

/// SplitMix64.
private struct SeededRandom {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
