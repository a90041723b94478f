import FCMProtocol
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Networking
import PushCore
import PushServer

/// The route `POST /token`: returns an access token for a service account's assertion (RFC 7523; the errors are those
/// of RFC 6749, section 5.2).
struct TokenRoute: Sendable {
    let access: FCMAccess
    let senderClock: @Sendable () -> Timestamp
    let names: @Sendable () -> ServerNames
    private static let failure = RepeatedMessage("the register could not be read")

    /// The reason why no token is returned.
    struct Refused: Error {
        var code: String
        var description: String
    }

    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The scopes of which a request must contain one.
    static let scopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    /// The audiences that libraries write, whatever their `token_uri` is.
    static let customaryAudiences: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
        "https://www.googleapis.com/oauth2/v4/token",
    ]

    func respond(_ request: Request, logger: Logger) async -> Response {
        do {
            let token = try await token(request)
            return .fcm(
                JSONValue.object([
                    .init("access_token", .string(token)),
                    .init("expires_in", .number(String(AccessTokenSealer.lifetime.components.seconds))),
                    .init("token_type", .string("Bearer")),
                ]).bytes)
        } catch let refused as Refused {
            if refused.code == "invalid_grant" { CredentialRefusals.log("FCM, \(refused.description)", to: logger) }
            return Self.answer(refused, status: 400)
        } catch let error as ControlError {
            return Self.answer(Refused(code: "invalid_request", description: error.message), status: 400)
        } catch let error as any HTTPResponseError {
            return Self.answer(
                Refused(code: "invalid_request", description: "the body cannot be read"), status: error.status.code)
        } catch {
            Self.failure.log(error, to: logger)
            return Self.answer(
                Refused(code: "temporarily_unavailable", description: "the server could not find out; try again later"),
                status: 503)
        }
    }

    private static func answer(_ refused: Refused, status: Int) -> Response {
        .fcm(
            JSONValue.object([
                .init("error", .string(refused.code)), .init("error_description", .string(refused.description)),
            ]).bytes, status: status, retryAfter: status == 503 ? 5 : nil)
    }

    private func token(_ request: Request) async throws -> String {
        let form = try await request.form()
        guard form.first("grant_type") == Self.grantType else {
            throw Refused(code: "unsupported_grant_type", description: "grant_type must be \(Self.grantType)")
        }
        guard let text = form.first("assertion") else {
            throw Refused(code: "invalid_request", description: "the assertion is missing")
        }
        func invalid(_ description: String) -> Refused { Refused(code: "invalid_grant", description: description) }
        let assertion: ServiceAssertion
        do { assertion = try ServiceAssertion(text) } catch { throw invalid(error.reason) }
        guard let (account, isGenuine) = try await access.accounts.signer(of: assertion) else {
            throw invalid("the register has no service account \(assertion.issuer.prefix(128)) with this key")
        }
        guard isGenuine else { throw invalid("the assertion's signature is not that of the service account's key") }
        if let fault = assertion.timeFault(at: senderClock()) { throw invalid(fault) }
        guard Self.isForUs(assertion.audience, names()) else {
            throw invalid(
                "the assertion's aud must be the token_uri of the service account, at a name of this server, which are those "
                    + "of its setting server-names or of its certificate")
        }
        guard !Self.scopes.isDisjoint(with: assertion.scopes) else {
            throw Refused(
                code: "invalid_scope",
                description: "scope must have one of \(Self.scopes.sorted().joined(separator: " "))")
        }
        try await RequestScope.prove(.team(account.team))
        return access.sealer.seal(
            AccessGrant(keyID: account.keyID, expiresAt: access.clock() + AccessTokenSealer.lifetime))
    }

    /// Whether an assertion is meant for this endpoint, under a name of the server's. A proxy may have taken the beginning of
    /// the path away.
    static func isForUs(_ audience: String, _ names: ServerNames) -> Bool {
        if customaryAudiences.contains(audience) { return true }
        guard let scheme = audience.firstRange(of: "://"), audience.lowercased().hasSuffix("/token") else {
            return false
        }
        let end = audience[scheme.upperBound...].firstIndex(of: "/") ?? audience.endIndex
        return names.include(origin: String(audience[..<end]))
    }
}
