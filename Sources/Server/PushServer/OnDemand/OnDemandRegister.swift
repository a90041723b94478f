import APNsProtocol
import Crypto
import PushCore

/// The error that an app cannot be added on demand.
package struct OnDemandFailure: Error, CustomStringConvertible {
    /// The sentence about it.
    package var description: String
}

/// Adds apps and devices to the register when a provider names one that is unknown. It serves tests, whose fixtures
/// were made elsewhere: whoever can connect can add as many as it likes.
///
/// A device on demand is connected at once, and acknowledges what it gets.
package actor OnDemandRegister {
    /// The kinds of what is added.
    package struct Kinds: OptionSet, Sendable {
        /// The bits.
        package let rawValue: UInt8
        /// Takes the bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Apps.
        package static let apps = Kinds(rawValue: 1)
        /// Devices, by their tokens.
        package static let tokens = Kinds(rawValue: 2)
    }

    /// The kinds that this register adds.
    package nonisolated let kinds: Kinds
    private let store: any RegisterStore
    private let apps: AppDirectory
    private let sealer: DeviceTokenSealer
    private let enrolment: Enrolment
    private let mailboxes: MailboxService
    private let environment: PushEnvironment
    private let arrived: @Sendable (OutgoingNotification, _ token: String) -> Void
    private var subjects: [DeviceToken: Task<TokenSubject, any Error>] = [:]

    /// Creates a register that has added nothing yet.
    ///
    /// - Parameter arrived: Called for each notification that a device on demand gets, with its token as the provider sent
    ///   it; on any thread.
    package init(
        _ kinds: Kinds, store: any RegisterStore, apps: AppDirectory, tokens: TokenDirectory, enrolment: Enrolment,
        mailboxes: MailboxService, environment: PushEnvironment,
        arrived: @escaping @Sendable (OutgoingNotification, _ token: String) -> Void
    ) {
        self.kinds = kinds
        self.store = store
        self.apps = apps
        sealer = tokens.sealer
        self.enrolment = enrolment
        self.mailboxes = mailboxes
        self.environment = environment
        self.arrived = arrived
    }

    /// The refusal that a token stands for; `nil` for other tokens, and where none are added.
    package nonisolated func refusal(of token: DeviceToken) -> APNsRejection? {
        guard kinds.contains(.tokens), let refusing = RefusingToken(token) else { return nil }
        return APNsRejection(
            refusing.reason, note: RefusingToken.note, timestamp: refusing == .gone ? mailboxes.now.rawValue : nil)
    }

    /// Finds the app of a topic, or adds it to a team. The app may be another team's.
    package func app(_ topic: Topic, of team: TeamID) async throws -> RegisteredApp {
        if let app = try await apps.find(topic) { return app }
        do {
            _ = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: mailboxes.now)
        } catch is RegisterError {
            // Another request has just added it.
        }
        guard let app = try await apps.find(topic) else {
            throw OnDemandFailure(description: "the app \(topic) could not be added")
        }
        return app
    }

    /// Finds the registration of a token that was not made here, or adds one on a device of its own.
    ///
    /// - Parameter text: The token as the provider sent it.
    package func subject(of token: DeviceToken, text: String, app: RegisteredApp) async throws -> TokenSubject {
        if let task = subjects[token] { return try await task.value }
        let task = Task { try await self.addDevice(app, text: text) }
        subjects[token] = task
        do { return try await task.value } catch {
            subjects[token] = nil
            throw error
        }
    }

    private func addDevice(_ app: RegisteredApp, text: String) async throws -> TokenSubject {
        guard let credentials = try await enrolment.checkIn(known: nil),
            case .token(let own) = try await enrolment.register(
                credentials, topic: app.topic, team: app.team, environment: environment),
            let subject = DeviceToken(text: own).flatMap(sealer.open)
        else { throw OnDemandFailure(description: "no device could be added for the token \(text)") }
        let device = OnDemandDevice(gateway: mailboxes, token: text, arrived: arrived)
        guard await device.connect(credentials) else {
            throw OnDemandFailure(description: "the device of the token \(text) could not be connected")
        }
        return subject
    }

    /// The token that stands for hexadecimal digits of another length than 64, up to 200; `nil` where none are added.
    package nonisolated func token(ofDigits digits: some Collection<UInt8>) -> DeviceToken? {
        guard kinds.contains(.tokens), (2...200).contains(digits.count), digits.count % 2 == 0,
            digits.allSatisfy({ Hexadecimal.value($0) != nil })
        else { return nil }
        return Self.token(of: String(decoding: digits, as: UTF8.self))
    }

    /// The token that stands for a registration token of FCM's: of another form than 64 hexadecimal digits.
    package static func token(of text: String) -> DeviceToken? {
        DeviceToken(text: text) ?? DeviceToken(bytes: Array(SHA256.hash(data: Array(text.utf8))))
    }
}
