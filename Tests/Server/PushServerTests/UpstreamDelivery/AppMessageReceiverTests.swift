import APNsProtocol
import AldabaTestSupport
import Logging
import NIOCore
import PushCore
import StoreMemory
import Synchronization
import Testing

@testable import PushServer

/// A server's part for messages from apps, with one app on two devices, in memory.
struct MessageWorld {
    let store = MemoryStore()
    let apps: AppDirectory
    let arrivalSignal = MessageArrivalSignal()
    let clock = ManualClock()
    let app: RegisteredApp
    let sealer: DeviceTokenSealer
    let receiver: AppMessageReceiver

    init(failing: Flag = Flag()) async throws {
        let clock = clock
        app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
            at: clock.now)
        for number in 1...2 as ClosedRange<UInt64> {
            _ = try await store.register(
                device: try #require(DeviceID(number)), app: app.id, environment: .sandbox, at: clock.now)
        }
        apps = AppDirectory(store: store, clock: clock.function)
        sealer = try #require(DeviceTokenSealer(keys: [Array(repeating: 7, count: 32)]))
        receiver = AppMessageReceiver(
            store: FailingMessageStore(base: store, isFailing: failing), apps: apps, arrivalSignal: arrivalSignal,
            clock: clock.function,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// What becomes of a message.
    func say(_ name: String, device: UInt64 = 1, to recipient: String = "TEAM123456") async throws -> UpstreamOutcome {
        let session = DeviceSessionID(device: try #require(DeviceID(device)), epoch: 1)
        let message = UpstreamMessage(
            persistentID: "p", category: app.topic.rawValue, recipient: recipient, appData: ["name": name],
            messageID: name, timeToLive: 60)
        return await withCheckedContinuation { continuation in
            receiver.receive(message, of: session) { continuation.resume(returning: $0) }
        }
    }

    func waiting() async throws -> [String] {
        try await store.waitingMessages(MessageScope(), after: 0, limit: 100, at: clock.now).map(\.message.messageID)
    }
}

/// A store whose transactions a test lets fail.
struct FailingMessageStore: AppMessageStore {
    struct Failure: Error {}

    let base: MemoryStore
    let isFailing: Flag

    func save(
        _ messages: [AppMessage], limits: MessageLimits, at now: Timestamp
    ) async throws -> [MessageInsertion] {
        if isFailing.load() { throw Failure() }
        return try await base.save(messages, limits: limits, at: now)
    }

    func waitingMessages(
        _ scope: MessageScope, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> [WaitingMessage] {
        try await base.waitingMessages(scope, after: number, limit: limit, at: now)
    }

    func takeMessages(_ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp) async throws -> Int {
        try await base.takeMessages(scope, through: number, limit: limit, at: now)
    }

    func takeMessage(_ number: Int64, at now: Timestamp) async throws -> Bool {
        try await base.takeMessage(number, at: now)
    }

    func expireMessages(at now: Timestamp, limit: Int) async throws -> Int {
        try await base.expireMessages(at: now, limit: limit)
    }

    func forgetMessages(endedBefore instant: Timestamp, limit: Int) async throws -> Int {
        try await base.forgetMessages(endedBefore: instant, limit: limit)
    }

    func messageEnds(app: AppID, messageID: String) async throws -> [DeviceID: MessageEnd?] {
        if isFailing.load() { throw Failure() }
        return try await base.messageEnds(app: app, messageID: messageID)
    }

    func setWebhook(_ webhook: Webhook?, app: AppID) async throws { try await base.setWebhook(webhook, app: app) }
    func webhooks() async throws -> [Webhook] { try await base.webhooks() }
}

@Suite(.timeLimit(.minutes(5))) struct AppMessageReceiverTests {
    @Test func `a message is durable when its device is told so, and the signal was sent`() async throws {
        let world = try await MessageWorld()
        var signals = world.arrivalSignal.listen().makeAsyncIterator()
        #expect(try await world.say("a") == .durable())
        #expect(await signals.next() != nil)
        #expect(try await world.say("a") == .durable())
        #expect(try await world.waiting() == ["a"])
    }

    @Test func `a store that fails ends the session, and the message can come again`() async throws {
        let failing = Flag()
        let world = try await MessageWorld(failing: failing)
        failing.store(true)
        #expect(try await world.say("a") == .failed)
        failing.store(false)
        #expect(try await world.say("a") == .durable())
        #expect(try await world.waiting() == ["a"])
    }

    @Test func `a refusal says why, and what comes beside it is stored`() async throws {
        let world = try await MessageWorld()
        async let refused = world.say("a", to: "OTHERTEAM1")
        async let stored = world.say("b", device: 2)
        async let strange = world.say("c", device: 3)
        guard case .refused(let refusal) = try await refused else { throw FailingMessageStore.Failure() }
        #expect(refusal.code == 403)
        #expect(try await stored == .durable())
        guard case .refused(let refusal) = try await strange else { throw FailingMessageStore.Failure() }
        #expect(refusal.code == 404)
        #expect(try await world.waiting() == ["b"])
    }

    @Test func `a thousand at once are all stored, in the order of each device`() async throws {
        let world = try await MessageWorld()
        let names = (0..<500).map { "m\($0)" }
        let answered = Inbox<UpstreamOutcome>()
        for name in names {
            for device in 1...2 as ClosedRange<UInt64> {
                let session = DeviceSessionID(device: try #require(DeviceID(device)), epoch: 1)
                world.receiver.receive(
                    UpstreamMessage(
                        persistentID: name, category: world.app.topic.rawValue, recipient: "TEAM123456",
                        messageID: name, timeToLive: 60), of: session
                ) { answered.put($0) }
            }
        }
        for _ in 0..<1000 { #expect(await answered.next() == .durable()) }
        let found = try await world.store.waitingMessages(MessageScope(), after: 0, limit: 2000, at: world.clock.now)
        for device in 1...2 as ClosedRange<UInt64> {
            #expect(found.filter { $0.message.device.rawValue == device }.map(\.message.messageID) == names)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct WebhookCourierTests {
    /// A webhook that answers as it is told, by message.
    private final class Hook: WebhookSender {
        let asked = Inbox<String>()
        let statuses: [String: Int]

        init(_ statuses: [String: Int]) { self.statuses = statuses }

        func send(_ body: [UInt8], signature: String, to address: WebhookAddress) async throws -> Int {
            let text = String(decoding: body, as: UTF8.self)
            let name = statuses.keys.first { text.contains("\"id\":\"\($0)\"") } ?? "?"
            asked.put(name)
            return statuses[name] ?? 500
        }
    }

    @Test func `what is taken ends, and what is refused holds up its own device alone`() async throws {
        let world = try await MessageWorld()
        let hook = Hook(["a": 200, "b": 400, "c": 200, "d": 200])
        let webhook = Webhook(
            app: world.app.id, url: "https://example.com/", secret: "s", setAt: world.clock.now)
        try await world.store.setWebhook(webhook, app: world.app.id)
        for (name, device) in [("a", 1), ("b", 1), ("c", 1)] as [(String, UInt64)] {
            #expect(try await world.say(name, device: device) == .durable())
        }
        #expect(try await world.say("d", device: 2) == .durable())
        let courier = WebhookDispatcher(
            store: world.store, register: world.store, sealer: world.sealer, cell: 0,
            arrivalSignal: world.arrivalSignal, sender: hook,
            clock: world.clock.function, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let serving = Task { await courier.serve(webhook) }
        for name in ["a", "b", "d"] { #expect(await hook.asked.next() == name) }
        // The pause of the refused one's device passes.
        world.clock.advance(milliseconds: 2000)
        #expect(await hook.asked.next() == "b")
        serving.cancel()
        await serving.value
        let left = try await world.store.waitingMessages(
            MessageScope(app: world.app.id), after: 0, limit: 10, at: world.clock.now)
        #expect(left.map(\.message.messageID) == ["b", "c"])
    }
}
