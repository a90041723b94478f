import APNsProtocol
import FCMProtocol
import PushCore
import PushServer

/// The check of a message's target: active registration tokens of the project's own apps.
struct MessageTargetValidator: Sendable {
    let apps: AppDirectory
    let tokens: TokenDirectory
    let groups: any DeviceGroupRegister
    /// The register of installations and their registrations; `nil` for a server without them.
    var register: (any RegisterStore & FCMRegister)?
    /// Adds unknown devices; `nil` where they are refused.
    var onDemand: OnDemandTokens?

    /// A device to which a message is sent.
    struct Addressee: Sendable {
        var app: RegisteredApp
        var subject: TokenSubject
        /// The device group that contains it.
        var group: String?
    }

    /// A token that cannot be sent to, with the app's topic where that is known.
    struct Refused: Error {
        var refusal: FCMRejection
        var topic = ""
        /// The member of a device group; `nil` outside of one.
        var member: String?
    }

    /// Finds the devices of a token or a notification key, and the reasons why some members of a group cannot be sent
    /// to.
    ///
    /// - Throws: ``Refused`` when there is no device; another error when the store cannot be read.
    func addressees(of token: String, team: TeamID) async throws -> (of: [Addressee], refused: [Refused]) {
        guard !token.hasPrefix(DeviceGroupKey.mark) else { return try await members(of: token, team) }
        return ([try await addressee(token, team)], [])
    }

    private func members(of key: String, _ team: TeamID) async throws -> (of: [Addressee], refused: [Refused]) {
        guard let group = try await groups.deviceGroup(key: key) else {
            throw Refused(refusal: FCMRejection(.unregistered, "there is no device group of this notification key"))
        }
        guard group.team == team else { throw Refused(refusal: Self.foreign("notification key")) }
        var found: [Addressee] = []
        var refused: [Refused] = []
        for token in group.tokens {
            do {
                var member = try await addressee(token, team)
                member.group = group.name
                found.append(member)
            } catch var error as Refused {
                error.member = token
                refused.append(error)
            }
        }
        guard !found.isEmpty else {
            throw Refused(refusal: FCMRejection(.unregistered, "no member of the device group is registered any more"))
        }
        return (found, refused)
    }

    /// Finds the active registrations of a Firebase installation by its id.
    ///
    /// - Throws: ``Refused`` when there is none; another error when the store cannot be read.
    func addressees(ofInstallation id: String, team: TeamID) async throws -> [Addressee] {
        guard let register else {
            throw Refused(refusal: .invalid("message.fid", "this server knows no Firebase installations"))
        }
        var found: [Addressee] = []
        for subject in try await register.activeRegistrations(ofInstallation: id, team: team) {
            guard let app = try await apps.find(subject.app), app.team == team, app.isPushEnabled else { continue }
            found.append(Addressee(app: app, subject: subject))
        }
        guard !found.isEmpty else {
            throw Refused(
                refusal: FCMRejection(
                    .unregistered, "nothing is registered under this Firebase installation id", field: "message.fid"))
        }
        return found
    }

    /// Whether the addressee is a browser, and not an agent or a library that registers the app itself.
    ///
    /// - Throws: An error when the store cannot be read.
    func isBrowser(_ addressee: Addressee) async throws -> Bool {
        guard let register else { return false }
        return try await register.webRegistrations(of: addressee.subject.device).contains {
            $0.app == addressee.subject.app && $0.environment == addressee.subject.environment
                && $0.isOfBrowser(addressee.app)
        }
    }

    /// Whether the addressee is an agent, and neither a browser nor a library of Android's.
    ///
    /// - Throws: An error when the store cannot be read.
    func isAgent(_ addressee: Addressee) async throws -> Bool {
        guard let register else { return true }
        return try await !register.webRegistrations(of: addressee.subject.device).contains {
            $0.app == addressee.subject.app && $0.environment == addressee.subject.environment
        }
    }

    private static func foreign(_ what: String) -> FCMRejection {
        FCMRejection(.senderIDMismatch, "the \(what) is another project's", field: "message.token")
    }

    /// Checks one registration token.
    func addressee(_ text: String, _ team: TeamID) async throws -> Addressee {
        if let addressee = try await addresseeOnDemand(text, team) { return addressee }
        guard let token = DeviceToken(text: text) else {
            throw Refused(
                refusal: .invalid("message.token", "a registration token has 64 hexadecimal digits"))
        }
        switch try await resolution(of: token) {
        case .bad, .needsLookUp:
            throw Refused(refusal: FCMRejection(.unregistered, "the registration token was not made here"))
        case .ended(let instant):
            throw Refused(
                refusal: FCMRejection(.unregistered, "the registration token is no longer active, since \(instant)"))
        case .active(let subject):
            guard let app = try await apps.find(subject.app) else {
                throw Refused(refusal: FCMRejection(.unregistered, "the app of the registration token was removed"))
            }
            guard app.team == team else { throw Refused(refusal: Self.foreign("registration token")) }
            try Self.checkCapability(of: app)
            return Addressee(app: app, subject: subject)
        }
    }

    /// The device on demand of a token that was not made here; `nil` where there are none, and for another token.
    private func addresseeOnDemand(_ text: String, _ team: TeamID) async throws -> Addressee? {
        guard let onDemand else { return nil }
        if let refusing = onDemand.refusing(text) { throw Refused(refusal: Self.refusal(refusing)) }
        guard let (subject, app) = try await onDemand.registration(of: text, team: team) else { return nil }
        try Self.checkCapability(of: app)
        guard subject.app == app.id else { throw Refused(refusal: Self.foreign("registration token")) }
        return Addressee(app: app, subject: subject)
    }

    private static func checkCapability(of app: RegisteredApp) throws(Refused) {
        guard app.isPushEnabled else {
            throw Refused(
                refusal: FCMRejection(
                    .thirdPartyAuthError, "\(app.topic) does not have the capability of push notifications"),
                topic: app.topic.rawValue)
        }
    }

    private static func refusal(_ token: RefusingToken) -> FCMRejection {
        switch token {
        case .invalid: .invalid("message.token", RefusingToken.note)
        case .foreign: FCMRejection(.senderIDMismatch, RefusingToken.note, field: "message.token")
        case .gone: FCMRejection(.unregistered, RefusingToken.note)
        case .tooMany: FCMRejection(.quotaExceeded, RefusingToken.note, retryAfter: 1)
        case .failed: FCMRejection(FCMErrorCode.internal, RefusingToken.note)
        case .unavailable: FCMRejection(.unavailable, RefusingToken.note, retryAfter: 1)
        }
    }

    private func resolution(of token: DeviceToken) async throws -> TokenDirectory.Resolution {
        let known = tokens.known(token)
        guard case .needsLookUp = known else { return known }
        return try await tokens.find(token)
    }
}
