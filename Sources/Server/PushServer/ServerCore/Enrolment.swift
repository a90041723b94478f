import APNsProtocol
import Logging
import PushCore

/// Enrols devices and registers apps on them.
package struct Enrolment: EnrolmentService {
    private let store: any RegisterStore
    private let apps: AppDirectory
    private let tokens: TokenDirectory
    private let mailboxes: MailboxService
    private let cell: UInt16
    private let secrets: DeviceSecrets
    private let logger: Logger
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    ///
    /// - Parameters:
    ///   - cell: The cell number in device tokens; 0 where there is one server.
    ///   - secrets: Derives the secrets of new devices.
    package init(
        store: any RegisterStore, apps: AppDirectory, tokens: TokenDirectory, mailboxes: MailboxService,
        cell: UInt16, secrets: DeviceSecrets = DeviceSecrets(keys: []),
        logger: Logger = Logger(label: "aldaba.enrolment"), clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.mailboxes = mailboxes
        self.cell = cell
        self.secrets = secrets
        self.logger = logger
        self.clock = clock
    }

    /// Generates the id of a new device at random, and its secret from that; or compares a known device's secret with
    /// its hash in constant time. A device that the store has lost, and that this server enrolled, is stored again.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func checkIn(known: DeviceCredentials?) async throws -> DeviceCredentials? {
        if let known {
            if try await isAuthentic(known) { return known }
            // The store says whether it has the device, revoked or blocked.
            guard secrets.issued(known),
                try await store.addDevice(known.device, secretHash: known.secretHash, at: clock())
            else { return nil }
            logger.notice(
                "A device that this server had enrolled, and has lost since, is known again.",
                metadata: [LogKey.device: "\(known.device)"])
            return known
        }
        // Ids are random: a collision among 2^62 is unlikely, and leads to another draw.
        while true {
            let credentials = draw()
            if try await enrol(credentials) { return credentials }
        }
    }

    /// Draws the id and the secret of a new device, which are not stored.
    func draw() -> DeviceCredentials {
        while true {
            guard let device = DeviceID(UInt64.random(in: 1...UInt64(Int64.max) >> 1)) else { continue }
            return DeviceCredentials(device: device, secret: secrets.secret(of: device))
        }
    }

    /// Stores a new device; `false` where its id is taken.
    ///
    /// - Throws: An error when the store cannot be written.
    func enrol(_ credentials: DeviceCredentials) async throws -> Bool {
        try await store.addDevice(credentials.device, secretHash: credentials.secretHash, at: clock())
    }

    /// Registers the app, updates the token directory, and seals the device token.
    ///
    /// - Throws: An error when the store cannot be read or written, or no token can be sealed.
    package func register(
        _ credentials: DeviceCredentials, topic: Topic, team: TeamID, environment: PushEnvironment,
        encryptionKey: RecipientPublicKey? = nil
    ) async throws -> RegistrationOutcome {
        guard try await isAuthentic(credentials) else { return .notAuthenticated }
        guard let app = try await apps.find(topic), app.team == team else { return .unknownTopic }
        let registration = try await register(app, on: credentials.device, environment: environment)
        let subject = subject(registration, device: credentials.device, app: app.id, environment: environment)
        // Most registrations repeat the stored one, and a write costs a sync.
        let known = try await store.encryptionKey(device: credentials.device, app: app.id, environment: environment)
        if known != encryptionKey {
            try await store.setEncryptionKey(
                encryptionKey, device: credentials.device, app: app.id, environment: environment, at: clock())
        }
        return .token(try tokens.sealer.seal(subject).description)
    }

    /// Registers an app without a device token for its sender, and updates the token directory.
    ///
    /// - Returns: The registration; `nil` for an unknown device and a wrong secret.
    /// - Throws: An error when the store cannot be read or written.
    func registration(
        _ credentials: DeviceCredentials, app: RegisteredApp, environment: PushEnvironment
    ) async throws -> Registration? {
        guard try await isAuthentic(credentials) else { return nil }
        return try await register(app, on: credentials.device, environment: environment)
    }

    private func register(
        _ app: RegisteredApp, on device: DeviceID, environment: PushEnvironment
    ) async throws -> Registration {
        let registration = try await mailboxes.changeRegistration(of: device) {
            try await store.register(device: device, app: app.id, environment: environment, at: clock())
        }
        try tokens.registrationIs(
            registration, of: subject(registration, device: device, app: app.id, environment: environment))
        return registration
    }

    /// Ends the registration, updates the token directory, and drops the notifications queued for the app.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func unregister(
        _ credentials: DeviceCredentials, topic: Topic, environment: PushEnvironment
    ) async throws -> RegistrationOutcome {
        guard try await isAuthentic(credentials) else { return .notAuthenticated }
        guard let app = try await apps.find(topic) else { return .unknownTopic }
        let hasEnded = try await end(device: credentials.device, app: app.id, environment: environment)
        return hasEnded ? .unregistered : .unknownTopic
    }

    /// Ends a registration for any caller; `false` when it never existed.
    @discardableResult
    package func end(device: DeviceID, app: AppID, environment: PushEnvironment) async throws -> Bool {
        let ended = try await store.endRegistration(device: device, app: app, environment: environment, at: clock())
        guard let ended else { return false }
        try tokens.registrationIs(ended, of: subject(ended, device: device, app: app, environment: environment))
        _ = mailboxes.submit(.unregister(device, app, environment))
        return true
    }

    private func subject(
        _ registration: Registration, device: DeviceID, app: AppID, environment: PushEnvironment
    ) -> TokenSubject {
        TokenSubject(
            cell: cell, device: device, app: app, environment: environment, generation: registration.generation)
    }

    /// Whether a device is enrolled with this secret and not blocked.
    package func isAuthentic(_ credentials: DeviceCredentials) async throws -> Bool {
        guard let hash = try await store.secretHash(of: credentials.device) else { return false }
        return credentials.matches(hash)
    }
}
