import APNsWire
import Logging
import PushModel

/// Enrols devices and registers apps on them.
public struct Enrolment: EnrolmentService {
    private let store: any RegisterStore
    private let apps: AppDirectory
    private let tokens: TokenDirectory
    private let mailboxes: MailboxService
    private let cell: UInt16
    private let clock: @Sendable () -> Timestamp

    /// Brings the parts together.
    ///
    /// - Parameter cell: The cell that device tokens name; 0 where there is one server.
    public init(
        store: any RegisterStore, apps: AppDirectory, tokens: TokenDirectory, mailboxes: MailboxService,
        cell: UInt16, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.mailboxes = mailboxes
        self.cell = cell
        self.clock = clock
    }

    /// Draws id and secret of a new device at random, or compares a known device's secret with its hash in constant
    /// time.
    ///
    /// - Throws: when the store cannot be read or written.
    public func checkIn(known: DeviceCredentials?) async throws -> DeviceCredentials? {
        if let known { return try await isAuthentic(known) ? known : nil }
        // Ids are random; two of 2^62 hardly ever meet, and if they do another is drawn.
        while true {
            guard let device = DeviceID(UInt64.random(in: 1...UInt64(Int64.max) >> 1)) else { continue }
            let credentials = DeviceCredentials(device: device, secret: UInt64.random(in: 1...UInt64(Int64.max)))
            if try await store.addDevice(device, secretHash: credentials.secretHash, at: clock()) {
                return credentials
            }
        }
    }

    /// Registers the app, tells the token directory of it, and seals the device token.
    ///
    /// - Throws: when the store cannot be read or written, or no token can be sealed.
    public func register(
        _ credentials: DeviceCredentials, topic: Topic, team: TeamID, environment: PushEnvironment
    ) async throws -> RegistrationOutcome {
        guard try await isAuthentic(credentials) else { return .notAuthenticated }
        guard let app = try await apps.find(topic), app.team == team else { return .unknownTopic }
        let registration = try await store.register(
            device: credentials.device, app: app.id, environment: environment, at: clock())
        let subject = subject(registration, credentials.device, app.id, environment)
        try tokens.registrationIs(registration, of: subject)
        return .token(try tokens.sealer.seal(subject).description)
    }

    /// Ends the registration, tells the token directory of it, and has the mailbox drop what waits for the app.
    ///
    /// - Throws: when the store cannot be read or written.
    public func unregister(
        _ credentials: DeviceCredentials, topic: Topic, environment: PushEnvironment
    ) async throws -> RegistrationOutcome {
        guard try await isAuthentic(credentials) else { return .notAuthenticated }
        guard let app = try await apps.find(topic) else { return .unknownTopic }
        let ended = try await store.endRegistration(
            device: credentials.device, app: app.id, environment: environment, at: clock())
        guard let ended else { return .unknownTopic }
        try tokens.registrationIs(ended, of: subject(ended, credentials.device, app.id, environment))
        _ = mailboxes.submit(.unregister(credentials.device, app.id, environment))
        return .unregistered
    }

    private func subject(
        _ registration: Registration, _ device: DeviceID, _ app: AppID, _ environment: PushEnvironment
    ) -> TokenSubject {
        TokenSubject(
            cell: cell, device: device, app: app, environment: environment, generation: registration.generation)
    }

    private func isAuthentic(_ credentials: DeviceCredentials) async throws -> Bool {
        guard let hash = try await store.secretHash(of: credentials.device) else { return false }
        return credentials.matches(hash)
    }
}
