import AldabaTestSupport
import Foundation
import HubProtocol
import HubServer
import Logging
import PostgresTestSupport
import PushCore
import PushServer
import Scheduling
import Synchronization
import Testing

/// A hub on a database of the test's own, with a push service that keeps what it is given.
final class HubWorld: Sendable {
    let folder: TemporaryFolder
    /// The parameters of the PostgreSQL database that it shares with other servers; `nil` for a file.
    let shared: [String: String]?
    let clock: ManualClock
    let sender: RecordingSender
    let database: HubDatabase
    let hubs: NotificationHubs
    let hub: HubRecord

    /// - Parameters:
    ///   - before: A run of the server that has ended, whose files, clock and push service go on.
    ///   - shared: The parameters of a PostgreSQL database, which other servers may have too.
    ///   - senders: In place of the push service that keeps what it is given.
    ///   - store: Stands between the hub and its database.
    ///   - gateway: Takes one notification for many devices, from as many on as `broadcastMinimum`.
    init(
        folder: TemporaryFolder? = nil, shared: [String: String]? = nil, isStrict: Bool = false,
        after before: HubWorld? = nil,
        senders: [HubPlatform: any PushSender]? = nil,
        store: (HubDatabase) -> any HubStore = { $0 },
        broadcastMinimum: Int = 1, clock: ManualClock? = nil,
        gateway: (any HubStore) throws -> (gateway: GatewayBroadcasts, lists: HubLists)? = { _ in nil }
    ) async throws {
        self.folder = try before?.folder ?? folder ?? TemporaryFolder()
        self.clock = before?.clock ?? clock ?? ManualClock()
        sender = before?.sender ?? RecordingSender()
        let parameters = try before.map(\.shared) ?? shared ?? Self.makeDatabase(of: self.folder)
        self.shared = parameters
        if let parameters {
            database = HubDatabase(in: PostgresServer.hubs(of: parameters))
        } else {
            database = try HubDatabase(path: self.folder.path("hub.sqlite"))
        }
        let store = store(database)
        let devices = try gateway(store)
        hubs = NotificationHubs(
            store: store, senders: senders ?? [.apns: sender, .aldaba: sender], gateway: devices?.gateway,
            changed: { devices?.lists.changed($0) }, broadcastMinimum: broadcastMinimum, clock: self.clock.function,
            zones: { HubWorld.zones[$0] })
        let made = try await database.addHub(
            name: "todo", team: TeamID(rawValue: "TEAM000001"), topic: Topic(rawValue: "com.example.todo"),
            isStrict: isStrict, keys: [], at: self.clock.now)
        let found = try await database.hub(named: "TODO")
        hub = try #require(made ?? found)
    }

    /// A server for all hubs, where `ALDABA_HUB_STORE` is `postgres`: then all tests of hubs run on PostgreSQL.
    private static let server: PostgresServer? = {
        guard ProcessInfo.processInfo.environment["ALDABA_HUB_STORE"] == "postgres",
            let version = PostgresVersion.installed.first
        else { return nil }
        do {
            let server = try PostgresServer(version)
            atexit { HubWorld.server?.stop() }
            return server
        } catch { fatalError("PostgreSQL does not start: \(error)") }
    }()

    /// Whether all hubs of this run are in a PostgreSQL database.
    static let isOnServer = server != nil

    /// A database for a folder, whose name a file in it has.
    private static func makeDatabase(of folder: TemporaryFolder) throws -> [String: String]? {
        guard let server else { return nil }
        let file = folder.url.appendingPathComponent("postgres")
        if FileManager.default.fileExists(atPath: file.path) {
            return server.parameters(of: try String(contentsOf: file, encoding: .utf8))
        }
        let parameters = try server.makeDatabase()
        try parameters["dbname"]?.write(to: file, atomically: true, encoding: .utf8)
        return parameters
    }

    /// Zones by their rules of POSIX, as they are in Europe and east of it.
    static let zones: [String: ZoneRules] = [
        "UTC": .utc, "Asia/Tokyo": .fixed(secondsFromGMT: 9 * 3600),
        "Test/TenMinutesEast": .fixed(secondsFromGMT: 600),
        "Europe/Berlin": rules("CET-1CEST,M3.5.0,M10.5.0/3"),
        "America/New_York": rules("EST5EDT,M3.2.0,M11.1.0"),
    ]

    private static func rules(_ text: String) -> ZoneRules {
        do { return try ZoneRules(posix: text) } catch { return .utc }
    }

    /// Accepts a campaign.
    func campaign(
        _ plan: String, audience: String? = nil, format: SendFormat = .content, body: String = #"{"title":"Hello"}"#,
        key: String? = nil, rate: Int? = nil
    ) async throws -> SendRecord {
        let plan = try CampaignPlan(text: plan)
        return try await hubs.accept(
            SendRequest(
                format: format, body: Array(body.utf8), target: .audience(audience), dueAt: plan.local?.earliest,
                idempotencyKey: key, campaign: "c", readsFields: true, rate: rate, plan: plan), for: hub)
    }

    /// The send as it is now.
    func now(_ record: SendRecord) async throws -> SendRecord { try await hubs.send(record.id, of: hub) }

    /// Sets the clock.
    func set(_ instant: String) throws {
        let wanted = try #require(WireTime.read(instant))
        clock.advance(milliseconds: wanted.milliseconds(since: clock.now))
    }

    var runner: SendRunner {
        SendRunner(hubs, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    @discardableResult
    func put(_ id: String, _ more: String = "", channel: String? = nil, platform: String = "apns") async throws
        -> StoredInstallation
    {
        let text = """
            {"installationId":"\(id)","platform":"\(platform)","pushChannel":"\(channel ?? "token of \(id)")"\(more)}
            """
        return try await hubs.put(try InstallationJSON.read(try JSONValue(text: text), id: id), of: hub).0
    }

    /// Accepts a native send for an expression.
    func send(
        _ expression: String?, format: SendFormat = .native(.apns), body: String = "{}", dueAt: Timestamp? = nil,
        key: String? = nil
    ) async throws -> SendRecord {
        try await hubs.accept(
            SendRequest(
                format: format, body: Array(body.utf8), target: .audience(expression), dueAt: dueAt, idempotencyKey: key
            ),
            for: hub)
    }

    func details(_ record: SendRecord) async throws -> SendDetails {
        try await hubs.details(record.id, of: hub) { "http://h/\($0)" }
    }
}

extension Trait where Self == ConditionTrait {
    /// For a test that looks into a hub's file, or copies it.
    static var onFiles: Self { .disabled(if: HubWorld.isOnServer, "the hubs of this run have no files") }
}

/// A push service that takes everything but what it is told not to.
final class RecordingSender: PushSender {
    private let state = Mutex<(pushes: [HubPush], verdicts: [String: PushVerdict?])>(([], [:]))

    var pushes: [HubPush] { state.withLock { $0.pushes } }
    var channels: [String] { pushes.map(\.channel.key) }

    func refuse(_ channel: String, _ verdict: PushVerdict?) {
        _ = state.withLock { $0.verdicts.updateValue(verdict, forKey: channel) }
    }

    func take(_ channel: String) { state.withLock { _ = $0.verdicts.removeValue(forKey: channel) } }

    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        state.withLock { state in
            state.pushes += pushes
            return pushes.map { state.verdicts[$0.channel.key] ?? PushVerdict(.success) }
        }
    }
}

/// Nothing is known of any notification.
struct NoTimelines: TimelineService {
    func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] { [] }
}

/// Nothing can be taken back.
struct NoWithdrawal: NotificationWithdrawal {
    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) { complete(.unknown) }
}

/// A push service beside which somebody else acts while a slice is with it.
struct Beside: PushSender {
    let sender: RecordingSender
    let act: @Sendable () async -> Void

    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        await act()
        var verdict = PushVerdict(.success)
        verdict.isTraced = true
        _ = await sender.deliver(pushes, of: hub)
        return pushes.map { _ in verdict }
    }
}
