import AldabaTestSupport
import AsyncHTTPClient
import Logging
import NIOCore
import Networking
import PushCore
import PushServer

@testable import ControlAPI

/// A server of one device, one app and one notification.
struct FakeServer: EnrolmentService, EncryptionKeyService, TimelineService, NotificationWithdrawal,
    ProviderAuthentication
{
    /// What becomes of a withdrawal.
    var outcome = WithdrawalOutcome.withdrawn

    // 77 is neither 0 nor beyond Int64.max, so it is an id.
    static let device = DeviceCredentials(device: DeviceID(77)!, secret: 4711)
    static let token = String(repeating: "ab", count: 32)
    static let key = RecipientPrivateKey().publicKey
    static let team = TeamID(rawValue: "TEAM000001")

    /// The public keys that registrations published.
    let published = Inbox<RecipientPublicKey?>()

    func checkIn(known: DeviceCredentials?) async throws -> DeviceCredentials? {
        guard let known else { return Self.device }
        return known == Self.device ? known : nil
    }

    func register(
        _ credentials: DeviceCredentials, topic: Topic, team: TeamID, environment: PushEnvironment,
        encryptionKey: RecipientPublicKey?
    ) async throws -> RegistrationOutcome {
        published.put(encryptionKey)
        guard credentials == Self.device else { return .notAuthenticated }
        guard topic.rawValue == "com.example.todo", team == Self.team else { return .unknownTopic }
        return .token(environment == .sandbox ? Self.token : String(repeating: "cd", count: 32))
    }

    func unregister(
        _ credentials: DeviceCredentials, topic: Topic, environment: PushEnvironment
    ) async throws -> RegistrationOutcome {
        credentials == Self.device ? .unregistered : .notAuthenticated
    }

    func encryptionKey(of token: String, team: TeamID?) async throws -> EncryptionKeyAnswer {
        guard team == nil || team == Self.team else { return .unknownToken }
        switch token {
        case Self.token: return .key(Self.key, Topic(rawValue: "com.example.todo"))
        case "keyless": return .none
        case "ended": return .unregistered
        default: return .unknownToken
        }
    }

    func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] {
        guard reference == "5", team == nil || team == Self.team else { return [] }
        let entry = TimelineEntry(
            at: Timestamp(rawValue: 1_800_000_000_123), state: .dropped(.offline), source: .server, note: "away")
        return [
            NotificationTimeline(
                id: NotificationID(rawValue: 5), apnsID: "an-id", team: Self.team, topic: Topic(rawValue: "t"),
                device: Self.device.device, environment: .sandbox, entries: [entry])
        ]
    }

    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) {
        complete(id.rawValue == 5 && device == Self.device.device ? outcome : .unknown)
    }

    /// The store that the fake one does not have.
    struct Failure: Error {}

    func team(authorization: String) async throws -> ProviderVerdict {
        switch authorization {
        case "bearer unknowable": throw Failure()
        case "bearer good": return .team(Self.team)
        case "bearer foreign": return .team(TeamID(rawValue: "TEAM000002"))
        case "bearer old": return .expired
        default: return .invalid
        }
    }

    func services(_ access: EnrolmentAccess, health: StoreHealth = StoreHealth()) -> ControlServices {
        ControlServices(
            enrolment: self, encryptionKeys: self, timelines: self, withdrawal: self, authentication: self,
            enrolmentAccess: access,
            health: health,
            clock: { Timestamp(rawValue: 1_800_000_000_000) })
    }
}

/// One request to a listener that runs for the body only.
struct RunningListener: Sendable {
    var port: Int

    struct Answer: Sendable {
        var status: Int
        var body: String
        var bytes: [UInt8]
        var retryAfter: String?
    }

    func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
        let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        return Answer(
            status: Int(response.status.code), body: String(decoding: bytes, as: UTF8.self), bytes: bytes,
            retryAfter: response.headers.first(name: "retry-after"))
    }
}

/// Runs a listener on a free port until the body returns.
func withListener(
    _ interface: ControlListener.Interface, connections: Int = 4096, logger: Logger = Logger(label: "test"),
    _ body: (RunningListener) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
    let listener = ControlListener(
        interface, port: 0,
        admission: .init(limits: .init(total: connections, perAddress: connections, unproven: connections)),
        logger: logger
    ) { continuation.yield($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await listener.run() }
        for await port in ports {
            try await body(RunningListener(port: port))
            break
        }
        group.cancelAll()
        while await group.nextResult() != nil {}
    }
}
