import APNsProtocol
import Crypto
import CryptoExtras
import FCMProtocol
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PushCore
import PushServer
import StoreMemory
import Synchronization

@testable import FCMFrontend

/// Keeps what a door lets in and refuses. Thread-safe.
final class RecordingAcceptor: NotificationAcceptor {
    /// What becomes of acceptances.
    enum Mode: Sendable {
        case takes
        /// Too much is queued.
        case isFull
        /// The store fails.
        case fails
        /// There is room for so many at once.
        case takesOnly(Int)
        /// The store fails after so many.
        case storesOnly(Int)
    }

    struct Refused: Hashable, Sendable {
        var code: String
        var note: String?
        var team: TeamID
        var topic: String
    }

    struct State: Sendable {
        var mode = Mode.takes
        var accepted: [AcceptedNotification] = []
        var refused: [Refused] = []
    }

    let now = Timestamp(seconds: 1_780_272_000)
    let state = Mutex(State())

    func accept(_ acceptance: AcceptedNotification, sink: any AcceptanceSink) -> Bool {
        let id: NotificationID?? = state.withLock { state in
            switch state.mode {
            case .takesOnly(let count) where state.accepted.count >= count: return nil
            case .isFull: return nil
            case .fails: return .some(nil)
            case .storesOnly(let count) where state.accepted.count >= count: return .some(nil)
            case .takes, .takesOnly, .storesOnly:
                state.accepted.append(acceptance)
                return NotificationID(rawValue: Int64(100 + state.accepted.count))
            }
        }
        guard let id else { return false }
        sink.completed([AcceptanceResult(ticket: acceptance.ticket, id: id, apnsID: nil)])
        return true
    }

    /// Makes room where there is only too little.
    func acceptAll(_ acceptances: [AcceptedNotification], sink: any AcceptanceSink) async -> Int {
        state.withLock { if case .takesOnly = $0.mode { $0.mode = .takes } }
        return acceptances.prefix { accept($0, sink: sink) }.count
    }

    func recordRefusal(code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?) -> NotificationID? {
        state.withLock { state in
            state.refused.append(Refused(code: code, note: note, team: team, topic: topic))
            return NotificationID(rawValue: 7)
        }
    }
}

/// FCM's door over a store in memory: one team with an app and a service account, and another team with an app.
struct FCMWorld {
    static let team = TeamID(rawValue: "TEAM123456")
    static let other = TeamID(rawValue: "OTHER12345")
    /// Made once: a key of 2048 bits takes a while.
    static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    let store = MemoryStore()
    let acceptor = RecordingAcceptor()
    let sealer: DeviceTokenSealer
    var services: FCMServices
    let access: FCMAccess
    let app: RegisteredApp
    let foreign: RegisteredApp
    let accessToken: String
    /// Where installations stand.
    var register: MemoryStore?
    var throttles = DeviceThrottles(perMinute: 0)

    init(messagesPerMinute: Int = 100, audiences: (any AudienceSender)? = nil) async throws {
        let now = acceptor.now
        guard let sealer = DeviceTokenSealer(keys: [Array(repeating: 1, count: 32)]),
            let accessTokens = AccessTokenSealer(secrets: [[1]])
        else { throw CancellationError() }
        self.sealer = sealer
        register = store
        app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: MailboxPolicy(), at: now)
        foreign = try await store.addApp(
            topic: Topic(rawValue: "com.example.other"), team: Self.other, policy: MailboxPolicy(), at: now)
        try await store.addServiceAccount(
            ServiceAccount(
                keyID: "key", team: Self.team, email: "me@team",
                publicKeyPEM: Self.key.get().publicKey.pemRepresentation,
                createdAt: now))
        let accounts = ServiceAccountDirectory(store: store) { now }
        services = FCMServices(
            accounts: accounts, apps: AppDirectory(store: store) { now },
            tokens: TokenDirectory(store: store, sealer: sealer), groups: store, sealer: accessTokens,
            acceptor: acceptor, names: { ServerNames(["push.example"], ports: [8443]) }, audiences: audiences,
            messagesPerMinute: messagesPerMinute)
        access = services.access
        accessToken = accessTokens.seal(AccessGrant(keyID: "key", expiresAt: now + .seconds(60)))
    }

    /// Registers an app on a device; its registration token.
    func register(_ app: RegisteredApp, device: UInt64 = 5) async throws -> (token: String, device: DeviceID) {
        guard let device = DeviceID(device) else { throw CancellationError() }
        let registration = try await store.register(
            device: device, app: app.id, environment: .production, at: acceptor.now)
        let token = try sealer.seal(
            TokenSubject(
                cell: 0, device: device, app: app.id, environment: .production, generation: registration.generation))
        return (token.description, device)
    }

    /// Ends the registration of the app on a device, as enrolment does it.
    func end(_ device: DeviceID) async throws {
        let ended = try await store.endRegistration(
            device: device, app: app.id, environment: .production, at: acceptor.now)
        guard let ended else { throw CancellationError() }
        try services.tokens.registrationIs(
            ended,
            of: TokenSubject(
                cell: 0, device: device, app: app.id, environment: .production, generation: ended.generation))
    }

    /// An answer, read whole.
    struct Answer {
        var status: Int
        var headers: HTTPFields
        var json: JSONValue
    }

    /// Sends a message's JSON.
    func send(
        _ message: String, rest: String = "", project: String = "team123456", authorization: String? = nil
    ) async throws -> Answer {
        let route = MessageRoute(
            access: access,
            gate: MessageTargetValidator(
                apps: services.apps, tokens: services.tokens, groups: services.groups, register: register),
            quotas: SendQuotas(perMinute: services.messagesPerMinute), throttles: throttles, acceptor: acceptor,
            audiences: services.audiences, metrics: FCMMetrics())
        return try await read(
            await route.respond(
                request(#"{"message":\#(message)\#(rest)}"#, authorization: authorization), project: project,
                logger: logger))
    }

    /// Changes a device group.
    func changeGroup(_ body: String) async throws -> Answer {
        try await read(await groups.change(request(body), logger: logger))
    }

    /// Asks for the key of a device group.
    func findGroup(_ name: String) async throws -> Answer {
        try await read(
            await groups.find(request("", path: "/fcm/notification?notification_key_name=\(name)"), logger: logger))
    }

    private var groups: DeviceGroupRoute {
        DeviceGroupRoute(
            access: access,
            gate: MessageTargetValidator(apps: services.apps, tokens: services.tokens, groups: services.groups),
            groups: services.groups, acceptor: acceptor)
    }

    private var logger: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }

    private func request(_ body: String, path: String = "/", authorization: String? = nil) -> Request {
        Request(
            head: .init(
                method: .post, scheme: "https", authority: "localhost", path: path,
                headerFields: [.authorization: authorization ?? "Bearer \(accessToken)"]),
            body: .init(buffer: ByteBuffer(string: body)))
    }

    private func read(_ response: Response) async throws -> Answer {
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Answer(
            status: response.status.code, headers: response.headers, json: try JSONValue(object: collector.bytes))
    }
}

extension FCMWorld.Answer {
    /// FCM's own code of an error.
    var code: String? { detail("errorCode") }
    /// What is wrong with a credential.
    var reason: String? { detail("reason") }

    private func detail(_ name: String) -> String? {
        guard case .array(let details)? = json["error"]?["details"] else { return nil }
        return details.lazy.compactMap { $0[name]?.text }.first
    }
}

/// Keeps what a body writes.
private final class BodyCollector: ResponseBodyWriter {
    private let written = Mutex<[UInt8]>([])
    var bytes: [UInt8] { written.withLock { $0 } }
    func write(_ buffer: ByteBuffer) async throws { written.withLock { $0 += buffer.readableBytesView } }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
