import APNsProtocol
import PushCore
import WebPushProtocol

/// Enrols browsers as devices, and makes and ends their subscriptions.
///
/// All subscriptions belong to the app ``topic``: a browser does not say for which page it subscribes.
package struct BrowserEnrolment: Sendable {
    /// The topic of the app that browsers' subscriptions belong to.
    package static let topic = Topic(rawValue: "web-push")
    /// The team of that app.
    package static let team = ServiceAccountDirectory.team(ofProject: "web-push")
    /// The maximum number of subscriptions of a browser.
    package static let mostChannels = 1_000

    private let enrolment: Enrolment
    private let admission: EnrolmentAdmission
    private let store: any RegisterStore & WebChannelRegister
    private let apps: AppDirectory
    private let sealer: SubscriptionSealer
    private let environment: PushEnvironment
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    ///
    /// - Parameter environment: The server's environment: browsers do not send one.
    package init(
        enrolment: Enrolment, admission: EnrolmentAdmission, store: any RegisterStore & WebChannelRegister,
        apps: AppDirectory, sealer: SubscriptionSealer, environment: PushEnvironment,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.enrolment = enrolment
        self.admission = admission
        self.store = store
        self.apps = apps
        self.sealer = sealer
        self.environment = environment
        self.clock = clock
    }

    /// The reason why a new browser is not served; `nil` where it is.
    ///
    /// - Parameters:
    ///   - key: The enrolment key of the WebSocket's address, `?key=KEY`.
    ///   - isCounted: Whether the browser enrols now.
    /// - Throws: An error when the register cannot be read or written.
    func refusal(of key: String?, isCounted: Bool) async throws -> String? {
        guard try await admission.refusal(of: key, isCounted: isCounted) != nil else { return nil }
        return "a new browser enrols with ?key=KEY in the address of the WebSocket, KEY being a valid enrolment key"
    }

    /// Draws the credentials of a new browser, which are not stored.
    func draw() -> DeviceCredentials { enrolment.draw() }

    /// Stores the credentials of a new browser.
    ///
    /// - Returns: `false` where the device's id was taken meanwhile.
    /// - Throws: An error when the register cannot be written.
    func enrol(_ credentials: DeviceCredentials) async throws -> Bool { try await enrolment.enrol(credentials) }

    /// The result of ``register(_:key:of:)``.
    package enum Outcome: Sendable {
        /// The last component of the subscription's address.
        case registered(String)
        /// The device has as many subscriptions as it may have.
        case full
        /// The status of the answer, and a sentence.
        case refused(status: Int, reason: String)
    }

    /// Makes a subscription; a repetition returns the same address.
    ///
    /// - Parameter key: The application server's public key, in base64url.
    /// - Throws: An error when the register cannot be read or written.
    package func register(_ id: PushChannelID, key: String?, of credentials: DeviceCredentials) async throws -> Outcome
    {
        var sender = ""
        if let key {
            guard let known = VAPIDToken.key(ofSender: key) else {
                return .refused(status: 400, reason: "key must be an uncompressed point of P-256 in base64url")
            }
            sender = known
        }
        if let known = try await store.webChannel(id, of: credentials.device), known.sender != sender {
            return .refused(status: 409, reason: "the subscription names another key; make one with another channelID")
        }
        let app = try await app()
        let outcome = try await enrolment.registration(credentials, app: app, environment: environment)
        guard let registration = outcome else { return .refused(status: 401, reason: "the device is not enrolled") }
        let channel = WebChannel(
            device: credentials.device, id: id, app: app.id, environment: environment,
            generation: registration.generation, sender: sender, registeredAt: clock())
        guard try await store.storeWebChannel(channel, limit: Self.mostChannels) else {
            return .full
        }
        return .registered(try sealer.seal(.init(device: credentials.device, channel: id)))
    }

    /// Ends a subscription; no error where there is none.
    ///
    /// - Throws: An error when the register cannot be written.
    package func unregister(_ id: PushChannelID, of device: DeviceID) async throws {
        // The browser is told the same whether it was there.
        _ = try await store.removeWebChannel(id, of: device)
    }

    /// The subscriptions of a browser.
    ///
    /// - Throws: An error when the register cannot be read.
    func channels(of device: DeviceID) async throws -> Set<PushChannelID> {
        Set(try await store.webChannels(of: device).map(\.id))
    }

    /// Whether a browser has a subscription.
    ///
    /// - Throws: An error when the register cannot be read.
    func hasChannel(_ id: PushChannelID, of device: DeviceID) async throws -> Bool {
        try await store.webChannel(id, of: device) != nil
    }

    /// The app of browsers' subscriptions, which the first of them adds.
    private func app() async throws -> RegisteredApp {
        if let app = try await apps.find(Self.topic) { return try Self.checked(app) }
        do {
            return try await store.addApp(topic: Self.topic, team: Self.team, policy: MailboxPolicy(), at: clock())
        } catch let error as RegisterError {
            // Another connection, or another server, has just added it.
            guard let app = try await apps.find(Self.topic) else { throw error }
            return try Self.checked(app)
        }
    }

    /// The app where it is the server's own: what browsers receive is nobody else's.
    private static func checked(_ app: RegisteredApp) throws -> RegisteredApp {
        guard app.team == team else { throw TakenTopic(team: app.team) }
        return app
    }

    /// The app of browsers' subscriptions belongs to a team.
    private struct TakenTopic: Error, CustomStringConvertible {
        var team: TeamID
        var description: String {
            "the app \(topic) belongs to the team \(team), also after its removal; browsers cannot subscribe on this database"
        }
    }
}
