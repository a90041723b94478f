import Crypto
import Foundation
import Networking
import PushCore

/// A log-in that was begun at an OpenID provider; the browser has it in a cookie until it comes back.
package struct OpenIDAttempt: Sendable {
    /// The purpose of the log-in.
    package enum Purpose: Sendable, Hashable {
        /// A session.
        case logIn
        /// The password's place before what is dangerous.
        case confirm
        /// The identity of the person of a link.
        case link(String)
    }

    /// `state`: the browser that began is the one that comes back.
    package let state: String
    /// `nonce`: the token is of this log-in.
    package let nonce: String
    /// `code_verifier` (RFC 7636, section 4.1).
    let verifier: String
    /// The purpose.
    package let purpose: Purpose
    /// The page that comes afterwards.
    package let next: String

    /// Begins a log-in.
    package init(_ purpose: Purpose, next: String) {
        state = OneSecret().text
        nonce = OneSecret().text
        verifier = OneSecret().text
        self.purpose = purpose
        self.next = next
    }

    /// Reads the value of the cookie; `nil` for another text.
    package init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, let next = Base64URL.decode(parts[5].utf8) else { return nil }
        state = parts[0]
        nonce = parts[1]
        verifier = parts[2]
        switch parts[3] {
        case "login": purpose = .logIn
        case "confirm": purpose = .confirm
        case "link": purpose = .link(parts[4])
        default: return nil
        }
        self.next = String(decoding: next, as: UTF8.self)
    }

    /// The value of the cookie.
    package var text: String {
        let (word, link) =
            switch purpose {
            case .logIn: ("login", "")
            case .confirm: ("confirm", "")
            case .link(let secret): ("link", secret)
            }
        return [state, nonce, verifier, word, link, Base64URL.encode(Array(next.utf8))].joined(separator: ".")
    }

    fileprivate var challenge: String { Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))) }
}

/// Logs people in by an OpenID provider: the code flow with PKCE (OpenID Connect Core 1.0, section 3.1).
package actor OpenIDProvider {
    private struct Addresses {
        var authorization: String
        var token: String
        var keys: String
    }

    private let issuer: String
    private let client: String
    @Secret private var secret: String?
    private let http: GuardedHTTP
    private let clock: @Sendable () -> Timestamp
    private var addresses: (found: Addresses, until: Timestamp)?
    private var keys: (found: OpenIDKeys, until: Timestamp)?
    private static let lifetime = Duration.seconds(3600)
    /// Unknown keys are asked for no more often than this.
    private static let shortest = Duration.seconds(30)
    private var keysAskedAt: Timestamp?

    /// Describes a provider; it is asked at the first log-in.
    ///
    /// - Parameters:
    ///   - issuer: Its address, which tokens have as `iss`.
    ///   - client: The id that it gave to the console.
    ///   - secret: The secret that belongs to the id; `nil` for a public client.
    package init(
        issuer: String, client: String, secret: String?, http: GuardedHTTP, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.issuer = issuer
        self.client = client
        _secret = Secret(wrappedValue: secret)
        self.http = http
        self.clock = clock
    }

    /// The address at the provider to which the browser goes.
    ///
    /// - Parameter redirect: The address to which the browser comes back.
    /// - Throws: ``OpenIDFault``.
    package func address(of attempt: OpenIDAttempt, redirect: String) async throws -> String {
        let found = try await discovered().authorization
        var fields = [
            ("response_type", "code"), ("client_id", client), ("redirect_uri", redirect), ("scope", "openid"),
            ("state", attempt.state), ("nonce", attempt.nonce), ("code_challenge", attempt.challenge),
            ("code_challenge_method", "S256"),
        ]
        if attempt.purpose == .confirm { fields += [("prompt", "login"), ("max_age", "0")] }
        return found + (found.contains("?") ? "&" : "?") + Self.form(fields)
    }

    /// The person of a code.
    ///
    /// - Throws: ``OpenIDFault``.
    package func identity(ofCode code: String, _ attempt: OpenIDAttempt, redirect: String) async throws
        -> ExternalIdentity
    {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("code_verifier", attempt.verifier), ("client_id", client),
        ]
        if let secret { fields.append(("client_secret", secret)) }
        let answer = try await document(
            OutboundRequest(
                url: try await discovered().token,
                headers: [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")],
                body: Array(Self.form(fields).utf8)), "the token")
        guard let text = answer["id_token"]?.text, text.utf8.count <= 16_384,
            let token = try? JSONWebToken(Array(text.utf8))
        else { throw OpenIDFault("the provider's answer has no ID token") }
        guard try await isSigned(token) else { throw OpenIDFault("no key of the provider signed the token") }
        let read = try OpenIDToken(token.claims, issuer: issuer, client: client, nonce: attempt.nonce, at: clock())
        if attempt.purpose == .confirm {
            guard let at = read.authenticatedAt, at > clock().rawValue / 1000 - 300 else {
                throw OpenIDFault("the provider did not ask the person again")
            }
        }
        return read.identity
    }

    private func isSigned(_ token: JSONWebToken) async throws -> Bool {
        let now = clock()
        if let keys, keys.until > now, keys.found.signed(token) { return true }
        // The provider may have changed its keys.
        if let asked = keysAskedAt, keys != nil, now < asked + Self.shortest { return false }
        keysAskedAt = now
        let found = OpenIDKeys(try await document(Self.get(try await discovered().keys), "the keys"))
        keys = (found, now + Self.lifetime)
        return found.signed(token)
    }

    private func discovered() async throws -> Addresses {
        if let addresses, addresses.until > clock() { return addresses.found }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let found = try await document(Self.get(base + "/.well-known/openid-configuration"), "the configuration")
        guard found["issuer"]?.text == issuer else {
            throw OpenIDFault("the configuration has another issuer than console-oidc-issuer")
        }
        guard let authorization = found["authorization_endpoint"]?.text, let token = found["token_endpoint"]?.text,
            let keys = found["jwks_uri"]?.text
        else { throw OpenIDFault("the configuration lacks authorization_endpoint, token_endpoint or jwks_uri") }
        let scheme = issuer.prefix { $0 != ":" } + "://"
        guard [authorization, token, keys].allSatisfy({ $0.hasPrefix(scheme) || $0.hasPrefix("https://") }) else {
            throw OpenIDFault("the configuration has addresses that are not https")
        }
        let read = Addresses(authorization: authorization, token: token, keys: keys)
        addresses = (read, clock() + Self.lifetime)
        return read
    }

    private static func get(_ url: String) -> OutboundRequest {
        var request = OutboundRequest(url: url, headers: [("accept", "application/json")], body: [])
        request.method = "GET"
        return request
    }

    private func document(_ request: OutboundRequest, _ name: String) async throws -> JSONValue {
        let answer: OutboundResponse
        do { answer = try await http.send(request) } catch let error as OutboundError {
            throw OpenIDFault("the provider did not give \(name): \(error.description)")
        }
        guard answer.status == 200, let found = try? JSONValue(answer.body) else {
            throw OpenIDFault("the provider did not give \(name): it answered \(answer.status)")
        }
        return found
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// A text as a component of a form (RFC 3986, section 2.3).
    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
