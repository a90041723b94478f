import APNsProtocol
import FCMProtocol
import PushCore
import PushServer

/// Registers apps on devices in browsers' form, and lets FCM's libraries set their keys.
///
/// Each such registration belongs to the app of its subtype (``WebRegistration/topic(ofSubtype:)``). In the form of
/// Android's libraries it belongs to the app of the category, whose project must be the sender. It has a device token
/// like any other. An app has one of them on a device: another subtype replaces it, and ends its device token.
package struct WebEnrolment: Sendable {
    /// The maximum length of `sender`, in bytes.
    package static let longestSender = WebRegistration.longestText

    private let enrolment: Enrolment
    private let store: any RegisterStore & FCMRegister
    private let apps: AppDirectory
    private let tokens: TokenDirectory
    private let mailboxes: MailboxService
    private let registrations: WebRegistrations
    private let environment: PushEnvironment
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    ///
    /// - Parameter environment: The server's environment: browsers do not send one.
    package init(
        enrolment: Enrolment, store: any RegisterStore & FCMRegister, apps: AppDirectory, tokens: TokenDirectory,
        mailboxes: MailboxService, registrations: WebRegistrations, environment: PushEnvironment,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.enrolment = enrolment
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.mailboxes = mailboxes
        self.registrations = registrations
        self.environment = environment
        self.clock = clock
    }

    /// Registers the app of the subtype.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func register(
        _ credentials: DeviceCredentials, category: String, subtype: String, sender: String
    ) async throws -> RegistrationOutcome {
        guard try await enrolment.isAuthentic(credentials) else { return .notAuthenticated }
        guard let app = try await app(category: category, subtype: subtype, sender: sender) else {
            return .unknownTopic
        }
        let known = try await store.webRegistrations(of: credentials.device).first {
            $0.app == app.id && $0.environment == environment
        }
        let isSame = known?.registration.subtype == subtype
        if !isSame { _ = try await enrolment.unregister(credentials, topic: app.topic, environment: environment) }
        let outcome = try await enrolment.register(
            credentials, topic: app.topic, team: app.team, environment: environment, encryptionKey: nil)
        guard case .token = outcome else { return outcome }
        var registration = WebRegistration(category: category, subtype: subtype, sender: sender)
        if let known, isSame {
            registration.key = known.registration.key
            registration.installation = known.registration.installation
            guard try await store.changeWebRegistration(known, to: registration, at: clock()) else {
                throw ChangedMeanwhile(device: credentials.device)
            }
        } else {
            try await store.keepWebRegistration(
                registration, device: credentials.device, app: app.id, environment: environment, at: clock())
        }
        registrationsChanged(of: credentials.device)
        return outcome
    }

    /// The failure of a registration whose keys were told at the same time; the client registers again.
    private struct ChangedMeanwhile: Error {
        var device: DeviceID
    }

    /// Ends the registration of a subtype.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func unregister(_ credentials: DeviceCredentials, subtype: String) async throws -> RegistrationOutcome {
        guard try await enrolment.isAuthentic(credentials) else { return .notAuthenticated }
        let kept = try await store.webRegistrations(of: credentials.device).first {
            $0.registration.subtype == subtype
        }
        guard let kept, let app = try await apps.find(kept.app) else { return .unknownTopic }
        return try await enrolment.unregister(credentials, topic: app.topic, environment: kept.environment)
    }

    /// Ends the earlier browser registration of an app that was registered on a device in agents' form.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func replaced(on device: DeviceID, topic: Topic, environment: PushEnvironment) async throws {
        guard registrations.mayHave(device), let app = try await apps.find(topic) else { return }
        try await store.keepWebRegistration(
            nil, device: device, app: app.id, environment: environment, at: clock())
        mailboxes.registrationsChanged(of: device)
    }

    /// The outcome of setting keys for a device token.
    package enum KeyOutcome: Hashable, Sendable {
        /// The keys are stored; messages are encrypted to them from now on. The device token is that of the
        /// registration.
        case kept
        /// The token is no device token of this server, or not of a browser's registration.
        case unknownToken
        /// The registration has ended.
        case unregistered
        /// The token is another project's, or another installation's.
        case foreign
        /// The token is no installation's, and the time for the first one to tell its keys is over.
        case unclaimed
        /// The token was changed at the same time; nothing of this change is kept.
        case changed
    }

    /// The time, in milliseconds after the device registered, in which an installation may tell the keys of a registration
    /// that is no other installation's yet: an hour. Libraries tell them within seconds.
    package static let claimTime: Int64 = 3_600_000

    /// Keeps the keys of a browser's registration, which is the installation's from then on.
    ///
    /// A registration token is known to those who send to it, and so it proves nothing. The first installation that tells keys
    /// has ``claimTime`` for it. Later ones are refused, unless the secret that they tell is the one that is kept: then they
    /// have what only the client was given, such as a page whose storage was cleared and whose subscription was not.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func keepKeys(
        _ key: RecipientPublicKey, installation: String, of token: String, team: TeamID
    ) async throws -> KeyOutcome {
        let kept: StoredWebRegistration
        switch try await find(token, team: team) {
        case .failure(let outcome): return outcome.outcome
        case .success(let found): kept = found
        }
        let now = clock()
        if let refusal = Self.refusal(of: key, from: installation, for: kept, at: now) { return refusal }
        var registration = kept.registration
        guard registration.key != key || registration.installation != installation else { return .kept }
        registration.key = key
        registration.installation = installation
        guard try await store.changeWebRegistration(kept, to: registration, at: now) else { return .changed }
        registrationsChanged(of: kept.device)
        return .kept
    }

    /// The reason why an installation may not tell the keys of a registration; `nil` where it may.
    static func refusal(
        of key: RecipientPublicKey, from installation: String, for kept: StoredWebRegistration, at now: Timestamp
    ) -> KeyOutcome? {
        guard let owner = kept.registration.installation else {
            return now.milliseconds(since: kept.registeredAt) <= claimTime ? nil : .unclaimed
        }
        if owner == installation { return nil }
        let known = kept.registration.key?.authenticationSecret
        return known.map { ConstantTime.equal($0, key.authenticationSecret) } == true ? nil : .foreign
    }

    /// Ends the registration of a device token that an installation has.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func end(_ token: String, installation: String, team: TeamID) async throws -> KeyOutcome {
        switch try await find(token, team: team) {
        case .failure(let outcome): return outcome.outcome
        case .success(let found):
            guard found.registration.installation == installation else { return .foreign }
            try await end(found)
            return .kept
        }
    }

    /// Ends every registration of an installation.
    ///
    /// - Throws: An error when the store cannot be read or written.
    package func endAll(ofInstallation id: String, team: TeamID) async throws {
        for kept in try await store.webRegistrations(ofInstallation: id, team: team) { try await end(kept) }
    }

    /// Whether a device token belongs to an app's active registration.
    ///
    /// - Throws: An error when the store cannot be read.
    package func isActive(_ token: String, topic: Topic, team: TeamID) async throws -> Bool {
        guard let token = DeviceToken(text: token), case .active(let subject) = try await tokens.find(token) else {
            return false
        }
        let app = try await apps.find(subject.app)
        return app?.topic == topic && app?.team == team
    }

    // MARK: Inside

    private struct InvalidRequest: Error {
        var outcome: KeyOutcome
    }

    private func find(_ text: String, team: TeamID) async throws -> Result<StoredWebRegistration, InvalidRequest> {
        guard let token = DeviceToken(text: text), let subject = tokens.sealer.open(token),
            let app = try await apps.find(subject.app)
        else { return .failure(InvalidRequest(outcome: .unknownToken)) }
        guard app.team == team else { return .failure(InvalidRequest(outcome: .foreign)) }
        switch try await tokens.find(token) {
        case .bad, .needsLookUp: return .failure(InvalidRequest(outcome: .unknownToken))
        case .ended: return .failure(InvalidRequest(outcome: .unregistered))
        case .active: break
        }
        let kept = try await store.webRegistrations(of: subject.device).first {
            $0.app == subject.app && $0.environment == subject.environment
        }
        return kept.map { .success($0) } ?? .failure(InvalidRequest(outcome: .unknownToken))
    }

    /// Records that a device's registrations have changed.
    private func registrationsChanged(of device: DeviceID) {
        registrations.add(device)
        mailboxes.registrationsChanged(of: device)
    }

    private func end(_ kept: StoredWebRegistration) async throws {
        try await enrolment.end(device: kept.device, app: kept.app, environment: kept.environment)
        mailboxes.registrationsChanged(of: kept.device)
    }

    /// The app of a subtype, or of a category with its project; `nil` when the register has none with that topic.
    private func app(category: String, subtype: String, sender: String) async throws -> RegisteredApp? {
        guard subtype.utf8.count <= WebRegistration.longestText else { return nil }
        if let topic = WebRegistration.topic(ofSubtype: subtype), let app = try await apps.find(topic) { return app }
        guard let app = try await apps.find(Topic(rawValue: category)), ProjectName.team(sender) == app.team else {
            return nil
        }
        return app
    }
}
