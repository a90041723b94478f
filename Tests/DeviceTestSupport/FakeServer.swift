import AgentEngine
import AgentRuntime
import AldabaTestSupport
import PushCore
import Synchronization
import WebPushProtocol

/// A server of the test's: gives ids and tokens, and lets the test play the sessions.
package final class FakeServer: PushConnector, EnrolmentClient {
    /// Every session that the agent opened.
    package let sessions = Inbox<FakeSession>()
    /// Devices that were forgotten are not authenticated.
    package let known = Mutex<Set<UInt64>>([])
    package let enrolled = Mutex<UInt64>(100)
    package let refusal = Mutex<EnrolmentError?>(nil)
    package let refusalOfEnd = Mutex<EnrolmentError?>(nil)
    /// The registrations that have ended.
    package let ended = Inbox<Topic>()
    package let refusalOfCheckIn = Mutex<EnrolmentError?>(nil)
    package let unregistered = Inbox<Topic>()
    /// The public keys that registrations published, in order.
    package let published = Mutex<[RecipientPublicKey?]>([])
    /// How many registrations have ended; each time there is another token.
    private let ends = Mutex(0)
    private let hold = Mutex<Latch?>(nil)

    package init() {}

    package func connect(
        _ identity: DeviceIdentity, received: [NotificationID], events: @escaping @Sendable (PushEvent) -> Void
    ) -> any PushConnection {
        let session = FakeSession(identity: identity, received: received, events: events)
        sessions.put(session)
        return session
    }

    package func checkIn(known identity: DeviceIdentity?) async throws(EnrolmentError) -> DeviceIdentity {
        if let refusal = refusalOfCheckIn.withLock({ $0 }) { throw refusal }
        if let identity {
            guard known.withLock({ $0.contains(identity.device.rawValue) }) else { throw .notAuthenticated }
            return identity
        }
        let number = enrolled.withLock { number in
            number += 1
            return number
        }
        known.withLock { _ = $0.insert(number) }
        guard let device = DeviceID(number) else { throw .unavailable("no id") }
        return DeviceIdentity(device: device, secret: number * 2)
    }

    package func register(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment,
        encryptionKey: RecipientPublicKey?
    ) async throws(EnrolmentError) -> String {
        published.withLock { $0.append(encryptionKey) }
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        guard known.withLock({ $0.contains(identity.device.rawValue) }) else { throw .notAuthenticated }
        return token(of: identity.device.rawValue, after: ends.withLock { $0 })
    }

    package func unregister(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment
    ) async throws(EnrolmentError) {
        unregistered.put(topic)
        await hold.withLock { $0.take() }?.wait()
        if let refusal = refusalOfEnd.withLock({ $0 }) { throw refusal }
        ends.withLock { $0 += 1 }
        ended.put(topic)
    }

    /// The channels of UnifiedPush that have endpoints, and the refusals of the next requests.
    package let channels = Mutex<Set<PushChannelID>>([])
    package let channelRefusals = Mutex<[EnrolmentError]>([])
    /// The host of endpoints.
    package let endpointHost = Mutex("push.example")

    package func registerChannel(
        _ identity: DeviceIdentity, channel: PushChannelID, key: String?
    ) async throws(EnrolmentError) -> String {
        let refusal = channelRefusals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let refusal { throw refusal }
        channels.withLock { _ = $0.insert(channel) }
        return "https://\(endpointHost.withLock { $0 })/\(identity.device)/\(channel)"
    }

    package func endChannel(_ identity: DeviceIdentity, channel: PushChannelID) async throws(EnrolmentError) {
        channels.withLock { _ = $0.remove(channel) }
    }

    /// What apps wanted of topics, in order: `+news 0…` to join, `-news` to leave, with the token's last digit.
    package let topics = Inbox<String>()
    package let topicRefusals = Mutex<[EnrolmentError]>([])

    package func setTopicSubscription(
        _ identity: DeviceIdentity, topic: Topic, token: String, name: String, joins: Bool
    ) async throws(EnrolmentError) {
        topics.put("\(joins ? "+" : "-")\(name) \(token.suffix(3))")
        let refusal = topicRefusals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let refusal { throw refusal }
    }

    /// The next end of a registration takes until the latch is opened.
    package func holdUnregistration() -> Latch {
        let latch = Latch()
        hold.withLock { $0 = latch }
        return latch
    }

    package func token(of device: UInt64, after ends: Int = 0) -> String {
        String(repeating: "0", count: 59) + (ends < 10 ? "0" : "") + String(ends) + String(device)
    }
}

/// One session, whose server's side the test plays.
package final class FakeSession: PushConnection {
    package let identity: DeviceIdentity
    package let received: [NotificationID]
    package let events: @Sendable (PushEvent) -> Void
    package let acknowledged = Inbox<[NotificationID]>()
    package let reports = Inbox<(receipts: [Receipt], batch: String)>()
    package let sent = Inbox<QueuedUpstream>()
    package let probes = Inbox<Void>()
    private let isOver = Mutex(false)

    package init(
        identity: DeviceIdentity, received: [NotificationID], events: @escaping @Sendable (PushEvent) -> Void
    ) {
        self.identity = identity
        self.received = received
        self.events = events
    }

    package func acknowledge(_ ids: [NotificationID]) { acknowledged.put(ids) }
    package func report(_ receipts: [Receipt], as batch: String) { reports.put((receipts, batch)) }
    package func send(_ message: QueuedUpstream) { sent.put(message) }
    package func probe() { probes.put(()) }
    package func close() { end(.lost("closed here")) }

    package func end(_ reason: PushCloseReason) {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { events(.closed(reason)) }
    }

    /// The next `count` receipts, `id state`, as they come.
    package func receipts(_ count: Int) async -> [String] {
        var states: [String] = []
        while states.count < count, let report = await reports.next() {
            states += report.receipts.map { "\($0.id) \($0.entry.state.text)" }
            events(.reportConfirmed([report.batch]))
        }
        return states
    }
}
