import AgentProtocol
import DeviceTestSupport
import Foundation
import PushCore
import Scheduling
import Synchronization

@testable import AgentEngine

/// An engine with one app, a store of the test's, and a clock that stands still.
struct EngineWorld {
    static let app = todoManifest.id
    private static let boot = UUID()

    var engine: AgentEngine
    var store = StoredByTest()
    var now = noon
    var session: Int? = 1
    var isConnected = true
    var hasScreen = true
    /// The processes that have the agent's parent.
    var siblings: Set<Int32> = []

    init(hasServer: Bool = true, hasActivator: Bool = false, manifest change: (inout AppManifest) -> Void = { _ in }) {
        engine = AgentEngine(
            settings: AgentEngine.Settings(
                environment: .sandbox, hasServer: hasServer, hasActivator: hasActivator, zones: { _ in .utc },
                strings: { _ in nil }))
        for var manifest in [
            todoManifest,
            AppManifest(
                id: AppManifest.terminalID, name: "aldaba", team: "", executable: "", authorization: .granted),
        ] {
            if manifest.id == Self.app { change(&manifest) }
            engine.apps[manifest.id] = InstalledApp(manifest: manifest, record: AppNotificationRecord())
        }
    }

    var context: AgentEngine.Context {
        AgentEngine.Context(
            now: now, clock: ClockReading(wall: now, boot: Self.boot, sinceBoot: 1_000),
            store: store, session: session, isConnected: isConnected, hasScreen: hasScreen,
            hasFile: { _ in false }, isSibling: { [siblings] in siblings.contains($0) })
    }

    /// What the engine says to an event.
    mutating func effects(_ event: (inout AgentEngine, AgentEngine.Context) throws -> Void) rethrows -> [AgentEffect] {
        try event(&engine, context)
        return engine.takeEffects()
    }

    /// The app is connected and ready.
    mutating func connect(process: Int32 = 7) throws -> AppConnectionID {
        let connection = Self.connection(process)
        _ = try effects { engine, context in
            _ = try engine.connectApp(Self.app, connection: connection, run: nil, context: context)
            try engine.perform(.ready, from: Self.app, connection: connection, context: context)
        }
        return connection
    }

    private static let lastNumber = Atomic(0)

    static func connection(_ process: Int32 = 7) -> AppConnectionID {
        AppConnectionID(number: lastNumber.add(1, ordering: .relaxed).newValue, process: process)
    }

    /// How many changes wait to be committed.
    var changes: [AgentStep] { engine.batch.changes.map(\.step) }
}

extension [AgentEffect] {
    /// What is said over connections, in order.
    var said: [AgentMessage] {
        flatMap { effect in if case .send(let messages, _, _) = effect { messages } else { [AgentMessage]() } }
    }
    /// The codes with which connections are refused.
    var refusals: [String] {
        compactMap { effect in if case .refuse(_, let code, _) = effect { code } else { nil } }
    }
    var links: [AgentLinkCall] {
        compactMap { effect in if case .link(let call) = effect { call } else { nil } }
    }
    var withdrawn: [NotificationID] {
        compactMap { effect in if case .withdraw(let id) = effect { id } else { nil } }
    }
    var launches: Int { filter { if case .launch = $0 { true } else { false } }.count }
    var timers: [AgentTimer] {
        compactMap { effect in if case .wait(_, then: let timer) = effect { timer } else { nil } }
    }
    /// How many lines of the log begin with these words.
    func logged(_ start: String) -> Int {
        count { if case .log(_, let text, _) = $0 { text.hasPrefix(start) } else { false } }
    }
    var failures: Int { filter { if case .storeFailed = $0 { true } else { false } }.count }
}

/// A store that says what a test wrote into it.
final class StoredByTest: AgentEngineStore {
    struct Unreadable: Error {}

    var isBroken = false
    var notifications: [WaitingNotification] = []
    var unhandled: Set<NotificationID> = []
    var known: Set<NotificationID> = []
    var responses: [WaitingResponse] = []
    var isWaking = false
    var wantedNow: [WaitingNotification] = []
    var requests: [PendingRequest] = []
    var data: [DataMessage] = []
    var pushMessages: [UnifiedPushMessage] = []
    var ended: [EndedUpstream] = []
    var expiry: Timestamp?
    var registered: Registration = .unknown
    var apps: [(app: BundleID, team: TeamID?)] = []
    var shownQuestions: [(app: BundleID, handle: String)] = []

    private func reading<Value>(_ value: Value) throws -> Value {
        if isBroken { throw Unreadable() }
        return value
    }

    func waiting(app: BundleID, after place: WaitingNotification.Place, limit: Int) throws -> [WaitingNotification] {
        try reading(Array(notifications.filter { $0.app == app && $0.sequence > place }.prefix(limit)))
    }
    func waitingResponses(app: BundleID, after place: WaitingResponse.Place, limit: Int) throws -> [WaitingResponse] {
        try reading(Array(responses.filter { $0.sequence > place }.prefix(limit)))
    }
    func notification(_ id: NotificationID) throws -> WaitingNotification? {
        try reading(notifications.first { $0.id == id })
    }
    func isUnhandled(_ id: NotificationID) throws -> Bool { try reading(unhandled.contains(id)) }
    func isKnown(_ id: NotificationID) throws -> Bool { try reading(known.contains(id)) }
    func hasWaking(app: BundleID) throws -> Bool { try reading(isWaking) }
    func wanted(limit: Int) throws -> [WaitingNotification] { try reading(Array(wantedNow.prefix(limit))) }
    func visible(limit: Int) throws -> [WaitingNotification] { try reading(notifications) }
    func listed(app: BundleID, limit: Int) throws -> [WaitingNotification] { try reading(notifications) }
    func pending(app: BundleID?) throws -> [PendingRequest] {
        try reading(requests.filter { app == nil || $0.app == app })
    }
    func pending(key: RequestKey) throws -> PendingRequest? { try reading(requests.first { $0.key == key }) }
    func pendingKeys() throws -> Set<RequestKey> { try reading(Set(requests.map(\.key))) }
    func done(app: BundleID, run: String) throws -> Set<Int64> { try reading([]) }
    func waitingData(app: BundleID, after place: DataMessage.Place, limit: Int, at: Timestamp) throws -> [DataMessage] {
        try reading(Array(data.filter { $0.sequence > place }.prefix(limit)))
    }
    func nextPushMessage(service: String, at: Timestamp) throws -> UnifiedPushMessage? {
        try reading(pushMessages.first { $0.service == service })
    }
    func deletions(app: BundleID) throws -> [Deletion] { try reading([]) }
    func endedUpstream(app: BundleID) throws -> [EndedUpstream] { try reading(ended) }
    func nextExpiry() throws -> Timestamp? { try reading(expiry) }
    func record(of app: BundleID) throws -> AppNotificationRecord { try reading(AppNotificationRecord()) }
    func registration(app: BundleID, environment: PushEnvironment) throws -> Registration { try reading(registered) }
    func registeredApps(environment: PushEnvironment) throws -> [(app: BundleID, team: TeamID?)] { try reading(apps) }
    func knownApps() throws -> Set<BundleID> { try reading([]) }
    func questions() throws -> [(app: BundleID, handle: String)] { try reading(shownQuestions) }
    func encryptionKeys(app: BundleID, environment: PushEnvironment) throws -> [RecipientPrivateKey] { try reading([]) }
    func opener(of fingerprint: [UInt8]) throws -> NotificationID? { try reading(nil) }
}
