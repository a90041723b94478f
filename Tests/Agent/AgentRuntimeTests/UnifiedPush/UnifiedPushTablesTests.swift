import AldabaTestSupport
import DeviceTestSupport
import PushCore
import Testing
import WebPushProtocol

@testable import AgentEngine
@testable import AgentRuntime

struct UnifiedPushTablesTests {
    private static let service = "com.example.App"
    private let folder: TemporaryFolder
    private let store: AgentStore
    private let channel = PushChannelID.random { 7 }

    init() throws {
        folder = try TemporaryFolder()
        store = try AgentStore.open(path: folder.path("agent.sqlite"), now: noon).store
    }

    private func registration(endpoint: String? = nil) -> UnifiedPushRegistration {
        UnifiedPushRegistration(
            token: "t", service: Self.service, description: "Chat", vapid: nil, version: .two, channel: channel,
            endpoint: endpoint)
    }

    private func carrier(_ id: Int64, topic: String? = nil, expiresAt: Timestamp? = noon.adding(milliseconds: 60_000))
        -> OutgoingNotification
    {
        OutgoingNotification(
            id: NotificationID(rawValue: id), apnsID: APNsID(rawValue: "00000000-0000-0000-0000-000000000001"),
            team: TeamID(rawValue: "ALDABATEAM"),
            topic: Topic(rawValue: "web-push"), environment: .production, lane: .apns, pushType: nil,
            priority: .immediate,
            collapseID: topic, acceptedAt: noon, expiresAt: expiresAt, payload: [])
    }

    /// Stores the registration and its endpoint.
    private func register(ending other: PushChannelID? = nil) throws {
        _ = try apply(.registered(registration(), ending: other))
        _ = try apply(.endpoint("https://a", token: "t", channel: channel))
    }

    private func apply(_ change: UnifiedPushChange, at: Timestamp = noon) throws -> ChangeResult {
        try store.commit([.unifiedPush(change, at: at)])[0]
    }

    @discardableResult private func arrive(
        _ id: Int64, topic: String? = nil, expiresAt: Timestamp? = noon.adding(milliseconds: 60_000),
        encoding: String = "aes128gcm", body: [UInt8] = [1, 2, 3]
    ) throws -> ChangeResult {
        let envelope = WebPushEnvelope(contentEncoding: encoding, body: body)
        return try apply(
            .arrived(
                ReceivedUnifiedPushMessage(
                    carrier: carrier(id, topic: topic, expiresAt: expiresAt),
                    message: ChannelMessage(channel: channel, envelope: envelope), session: 1)))
    }

    private func next(at: Timestamp = noon) throws -> Int64? {
        try store.nextPushMessage(service: Self.service, at: at)?.id.rawValue
    }

    /// The states that were reported of a notification.
    private func states(_ id: Int64) throws -> [String] {
        try store.receipts(after: 0, limit: 1000).map(\.receipt).filter { $0.id.rawValue == id }
            .map { $0.entry.state.text }
    }

    @Test func `a registration is there with its endpoint after a new start`() throws {
        #expect(try apply(.registered(registration(), ending: nil)) == .unifiedPush(.registered(registration())))
        #expect(try store.pendingChannel() == .registration(registration()))
        #expect(
            try apply(.endpoint("https://a", token: "t", channel: channel))
                == .unifiedPush(.endpoint("https://a", token: "t")))
        #expect(try store.pendingChannel() == nil)
        #expect(try store.pushRegistrations().map(\.registration) == [registration(endpoint: "https://a")])
    }

    @Test func `an app that registers again keeps the endpoint of its channel, and no other`() throws {
        try register()
        let known = registration(endpoint: "https://a")
        #expect(try apply(.registered(registration(), ending: nil)) == .unifiedPush(.registered(known)))
        var changed = registration()
        changed.channel = PushChannelID.random { 9 }
        #expect(try apply(.registered(changed, ending: channel)) == .unifiedPush(.registered(changed)))
        // A late answer to the request for the earlier channel.
        #expect(try apply(.endpoint("https://a", token: "t", channel: channel)) == .unifiedPush(.nothing))
        #expect(try store.pendingChannel() == .registration(changed))
    }

    @Test func `an app that takes a message as it expires has it in the timeline`() throws {
        try register()
        let soon = noon.adding(milliseconds: 10)
        try arrive(1, expiresAt: soon)
        _ = try store.commit([.dataExpired(at: soon)])
        _ = try apply(.ended(NotificationID(rawValue: 1), service: Self.service, .handed, note: ""))
        #expect(try states(1) == ["expired", "handed"])
    }

    @Test func `messages are read in the order of their arrival, each until it ends`() throws {
        try register()
        let id = NotificationID(rawValue: 1)
        #expect(try arrive(1) == .pushMessageStored(id, service: Self.service, session: 1))
        #expect(try arrive(1) == .pushMessageStored(id, service: nil, session: 1), "it came twice")
        try arrive(2)
        #expect(try next() == 1)
        #expect(try store.pushRegistrations().map(\.waiting) == [2])
        let end = UnifiedPushChange.ended(id, service: Self.service, .handed, note: "")
        #expect(try apply(end) == .unifiedPush(.ended(service: Self.service)))
        #expect(try next() == 2)
        #expect(try states(1) == ["handed"])
        #expect(try store.unconfirmed().map(\.rawValue) == [1, 2])
    }

    @Test func `what no app can have ends with its reason`() throws {
        try arrive(1)
        try register()
        try arrive(2, encoding: "aesgcm")
        try arrive(3, body: [])
        #expect(try next() == nil)
        #expect(try states(1) == ["dropped(unregistered)"])
        #expect(try states(2) == ["failed(badEncoding)"])
        #expect(try states(3) == ["failed(noContent)"])
    }

    @Test func `the hundred newest messages wait`() throws {
        try register()
        for id in 1...Int64(UnifiedPushTables.mostMessages + 2) { try arrive(id) }
        #expect(try next() == 3)
        #expect(try states(1) == ["dropped(overflow)"] && states(2) == ["dropped(overflow)"])
        #expect(try store.pushRegistrations().map(\.waiting) == [UnifiedPushTables.mostMessages])
    }

    @Test func `a later message of a topic replaces an earlier one`() throws {
        try register()
        try arrive(1, topic: "score")
        try arrive(2, topic: "other")
        try arrive(3, topic: "score")
        #expect(try next() == 2)
        #expect(try states(1) == ["replaced"])
    }

    @Test func `a message ends when its time is over`() throws {
        try register()
        let soon = noon.adding(milliseconds: 10)
        try arrive(1, expiresAt: soon)
        #expect(try store.nextExpiry() == soon)
        #expect(try next(at: soon) == nil)
        _ = try store.commit([.dataExpired(at: soon)])
        #expect(try states(1) == ["expired"])
        #expect(try store.nextExpiry() == nil)
    }

    @Test func `a registration that ends takes its messages with it, and leaves its channel for the server`() throws {
        try register()
        try arrive(1)
        #expect(try apply(.unregistered(token: "t", note: "it has ended")) == .unifiedPush(.unregistered(token: "t")))
        #expect(try apply(.unregistered(token: "t", note: "it has ended")) == .unifiedPush(.nothing))
        #expect(try states(1) == ["dropped(unregistered)"])
        #expect(try store.pendingChannel() == .ended(channel))
        _ = try apply(.channelEnded(channel))
        #expect(try store.pendingChannel() == nil)
    }

    @Test func `a new identity has no endpoints and no channels to end`() throws {
        let other = PushChannelID.random { 8 }
        try register(ending: other)
        #expect(try store.pendingChannel() == .ended(other))
        try store.forgetIdentity()
        #expect(try store.pendingChannel() == .registration(registration()))
        _ = try apply(.endpoint("https://b", token: "t", channel: channel))
        #expect(try store.pendingChannel() == nil)
    }

    @Test func `a message that its sender takes back does not wait any more`() throws {
        try register()
        try arrive(1)
        let notice = ArrivedNotice(
            carrier: carrier(2), notice: .withdrawn(NotificationID(rawValue: 1)), session: 1, receivedAt: noon,
            isForInstalledApp: false)
        _ = try store.commit([.noticed(notice)])
        #expect(try next() == nil)
        #expect(try states(1) == ["withdrawn"])
    }
}
