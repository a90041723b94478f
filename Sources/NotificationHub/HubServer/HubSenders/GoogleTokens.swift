import CryptoExtras
import Foundation
import HubProtocol
import Networking
import PushCore

/// A service account of Google's, from its file.
package struct ServiceAccountKey: Sendable {
    /// The account's e-mail address, `client_email`.
    package let email: String
    /// The project, `project_id`.
    package let project: String
    /// The address that issues access tokens, `token_uri`.
    package let tokenAddress: String
    let keyID: String?
    let key: _RSA.Signing.PrivateKey

    /// The fault of a file.
    package struct Unreadable: Error, CustomStringConvertible {
        /// A description; never the key.
        package let description: String
    }

    /// Parses the file's text.
    package init(_ text: String) throws {
        guard let tree = try? JSONValue(text: text), tree["type"]?.text == "service_account",
            let email = tree["client_email"]?.text, let project = tree["project_id"]?.text,
            let tokenAddress = tree["token_uri"]?.text, let pem = tree["private_key"]?.text
        else {
            throw Unreadable(
                description:
                    "it is no service account: a JSON object with type, project_id, client_email, private_key and "
                    + "token_uri")
        }
        guard !project.isEmpty, project.utf8.allSatisfy({ $0 > 0x2C && $0 < 0x7B && $0 != UInt8(ascii: "/") }) else {
            throw Unreadable(description: "its project_id cannot stand in an address")
        }
        do { key = try _RSA.Signing.PrivateKey(pemRepresentation: pem) } catch {
            throw Unreadable(description: "its private_key is no RSA key in PEM")
        }
        self.email = email
        self.project = project
        self.tokenAddress = tokenAddress
        keyID = tree["private_key_id"]?.text
    }

    /// The assertion that requests an access token (RFC 7523, section 3).
    func assertion(at now: Timestamp) throws -> String {
        let seconds = now.rawValue / 1000
        var header: [JSONValue.Member] = [.init("alg", .string("RS256")), .init("typ", .string("JWT"))]
        if let keyID { header.append(.init("kid", .string(keyID))) }
        let claims: [JSONValue.Member] = [
            .init("iss", .string(email)), .init("scope", .string(GoogleTokens.scope)),
            .init("aud", .string(tokenAddress)), .init("iat", .number(String(seconds))),
            .init("exp", .number(String(seconds + 3600))),
        ]
        return try JSONWebToken.signed(
            header: header, claims: claims,
            by: { try Array(key.signature(for: $0, padding: .insecurePKCS1v1_5).rawRepresentation) })
    }
}

/// The access tokens of service accounts; concurrent callers share one request.
actor GoogleTokens {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// An error: no token was issued.
    struct Refused: Error {
        var verdict: PushVerdict
    }

    private struct Made {
        @Secret var token: String
        var until: Timestamp
    }

    private let http: GuardedHTTP
    private let clock: @Sendable () -> Timestamp
    private var made: [Int64: Made] = [:]
    private var asking: [Int64: Task<Made, any Error>] = [:]

    init(http: GuardedHTTP, clock: @escaping @Sendable () -> Timestamp) {
        self.http = http
        self.clock = clock
    }

    /// The access token of a service account.
    ///
    /// - Throws: ``Refused``.
    func token(_ credential: PushCredential) async throws -> String {
        if let found = made[credential.number], clock() < found.until { return found.token }
        let task = asking[credential.number] ?? Task { try await ask(credential) }
        asking[credential.number] = task
        do {
            let found = try await task.value
            asking[credential.number] = nil
            made[credential.number] = found
            return found.token
        } catch {
            asking[credential.number] = nil
            throw error
        }
    }

    /// Removes a token, so that the next call requests another, unless it was replaced already.
    func forget(_ token: String, of credential: PushCredential) {
        if made[credential.number]?.token == token { made[credential.number] = nil }
    }

    private func ask(_ credential: PushCredential) async throws -> Made {
        let account: ServiceAccountKey
        let assertion: String
        let now = clock()
        do {
            account = try ServiceAccountKey(credential.secret)
            assertion = try account.assertion(at: now)
        } catch { throw Refused(verdict: PushVerdict(.invalidCredentials, reason: "UnreadableKey")) }
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let answer: OutboundResponse
        do {
            answer = try await http.send(
                OutboundRequest(
                    url: account.tokenAddress, headers: [("content-type", "application/x-www-form-urlencoded")],
                    body: Array(form.utf8)),
                as: GuardedHTTP.Identity(id: credential.number, authority: credential.authority))
        } catch { throw Refused(verdict: AppleVerdict.failed(error)) }
        let tree = try? JSONValue(answer.body)
        guard answer.status == 200, let token = tree?["access_token"]?.text else {
            let word = tree?["error"]?.text ?? "HTTP \(answer.status)"
            guard answer.status == 429 || answer.status >= 500 else {
                throw Refused(verdict: PushVerdict(.invalidCredentials, reason: word))
            }
            throw Refused(verdict: PushVerdict(.unavailable, reason: word, retryAfter: answer.retryAfter ?? 0))
        }
        let seconds = min(max(tree?["expires_in"]?.integer ?? 3600, 0), 86_400)
        return Made(token: token, until: now.adding(milliseconds: (seconds - 60) * 1000))
    }
}
