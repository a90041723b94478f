import APNsProtocol
import PushCore
import PushServer

/// The checks of one push, in order: certificate, app, payload, token, token and app.
struct LegacyPushGate: Sendable {
    let certificates: any CertificateAuthentication
    let apps: AppDirectory
    let tokens: TokenDirectory
    /// The environment that this endpoint serves.
    let environment: PushEnvironment
    /// Adds unknown apps and devices; `nil` where they are refused.
    var onDemand: OnDemandRegister?

    /// The decision on a push.
    enum Decision: Sendable {
        case accept(AcceptedNotification)
        /// The token is not active: the provider is notified by the feedback service.
        case dead(APNsRejection, CertificateOwner)
        /// The connection ends; a timeline is written for the owner where one is known.
        case refuse(LegacyStatus, reason: APNsRejection, owner: CertificateOwner?)
    }

    /// The reason why a push is refused.
    private struct Refused: Error {
        var status: LegacyStatus
        var refusal: APNsRejection
        var owner: CertificateOwner?
    }

    /// The app that a certificate sends to.
    ///
    /// - Throws: An error when the register cannot be read.
    func app(of certificate: [UInt8]) async throws -> Result<RegisteredApp, APNsRejection> {
        do { return .success(try await addressee(certificate).app) } catch let refused as Refused {
            return .failure(refused.refusal)
        }
    }

    /// Checks a push.
    ///
    /// - Parameter ticket: A number that is returned with the result of an accepted push.
    /// - Throws: An error when the register cannot be read.
    func decide(_ push: LegacyPush, certificate: [UInt8], ticket: Int32) async throws -> Decision {
        do { return try await judge(push, certificate: certificate, ticket: ticket) } catch let refused as Refused {
            return .refuse(refused.status, reason: refused.refusal, owner: refused.owner)
        }
    }

    private func addressee(_ certificate: [UInt8]) async throws -> (app: RegisteredApp, owner: CertificateOwner) {
        let owner: CertificateOwner
        switch try await certificates.verdict(on: certificate, in: environment) {
        case .owner(let known): owner = known
        case .refused(let refusal, let owner): throw Refused(status: .unknown, refusal: refusal, owner: owner)
        }
        guard let app = try await app(of: owner) else {
            throw Refused(
                status: .missingTopic,
                refusal: APNsRejection(
                    .topicDisallowed, note: "the certificate's topic \(owner.topic) is no app of team \(owner.team)"),
                owner: owner)
        }
        guard app.isPushEnabled else {
            throw Refused(
                status: .missingTopic,
                refusal: APNsRejection(
                    .topicDisallowed, note: "\(app.topic) does not have the capability of push notifications"),
                owner: owner)
        }
        return (app, owner)
    }

    /// The app of a certificate's owner; `nil` where there is none.
    private func app(of owner: CertificateOwner) async throws -> RegisteredApp? {
        if let onDemand, onDemand.kinds.contains(.apps) { return try await onDemand.app(owner.topic, of: owner.team) }
        return try await apps.find(owner.topic).flatMap { $0.team == owner.team ? $0 : nil }
    }

    private func judge(_ push: LegacyPush, certificate: [UInt8], ticket: Int32) async throws -> Decision {
        let (app, owner) = try await addressee(certificate)
        func refused(_ status: LegacyStatus, reason: APNsReason, note: String) -> Refused {
            Refused(status: status, refusal: APNsRejection(reason, note: note), owner: owner)
        }
        let scan = JSONScanner.scan(ofObject: push.payload)
        if let fault = scan.fault {
            throw refused(.unknown, reason: .payloadEmpty, note: "the payload is not a JSON object: \(fault)")
        }
        guard let token = DeviceToken(bytes: push.token) else {
            throw refused(.invalidTokenSize, reason: .badDeviceToken, note: "the device token has not 32 bytes")
        }
        if let refusal = onDemand?.refusal(of: token) {
            throw Refused(status: .invalidToken, refusal: refusal, owner: owner)
        }
        switch try await resolution(of: token, app) {
        case .bad, .needsLookUp:
            throw refused(.invalidToken, reason: .badDeviceToken, note: "the device token was not made here")
        case .ended(let instant):
            return .dead(
                APNsRejection(
                    .unregistered, note: "the device token is no longer active", timestamp: instant.rawValue), owner)
        case .active(let subject):
            guard subject.environment == environment else {
                throw refused(
                    .invalidToken, reason: .badDeviceToken,
                    note: "the device token is of the \(subject.environment) environment, this is \(environment)")
            }
            guard subject.app == app.id else {
                throw refused(
                    .invalidToken, reason: .deviceTokenNotForTopic, note: "the device token is not one of \(app.topic)")
            }
            return .accept(
                AcceptedNotification(
                    app: app, subject: subject,
                    notification: Notification(
                        topic: app.topic, priority: push.priority ?? .immediate, expiry: push.expiry,
                        content: .apns(push.payload)), ticket: ticket,
                    note: PayloadDiagnosis.note(on: scan, pushType: nil)))
        }
    }

    private func resolution(of token: DeviceToken, _ app: RegisteredApp) async throws -> TokenDirectory.Resolution {
        var known = tokens.known(token)
        if case .needsLookUp = known { known = try await tokens.find(token) }
        guard known == .bad, let onDemand, onDemand.kinds.contains(.tokens) else { return known }
        return .active(try await onDemand.subject(of: token, text: token.description, app: app))
    }
}
