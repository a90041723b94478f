import Crypto
import Foundation
import PushCore
import PushServer

/// Creates and authenticates installations of apps.
struct Installations: Sendable {
    /// The lifetime of an auth token, in seconds: a week.
    static let lifetime: Int64 = 604_800
    /// The maximum length of an id, in bytes.
    static let longestID = 64

    let store: any FCMRegister
    let clock: @Sendable () -> Timestamp

    /// The id and tokens that a new installation receives.
    struct Proofs: Sendable {
        var id: String
        @Secret var refreshToken: String
        @Secret var authToken: String
    }

    /// Stores a new installation. If its id is taken, another is generated.
    ///
    /// - Parameter keyHash: The hash of the register's key that it used; `nil` where none was needed.
    /// - Returns: `nil` where the key has reached its limit.
    func make(id asked: String?, appID: String, team: TeamID, keyHash: [UInt8]?) async throws -> Proofs? {
        var id = asked ?? Self.newID()
        if try await store.installation(id, team: team) != nil { id = Self.newID() }
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        let installation = Installation(
            id: id, team: team, appID: appID, refreshHash: Array(SHA256.hash(data: secret)), createdAt: clock())
        guard try await store.keepInstallation(installation, byKey: keyHash) else { return nil }
        return Proofs(
            id: id, refreshToken: "\(Base64URL.encode(Array(id.utf8))).\(Base64URL.encode(secret))",
            authToken: authToken(of: installation))
    }

    /// The new auth token of the installation that a refresh token proves; `nil` when it proves none.
    func refresh(_ token: String, team: TeamID) async throws -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Self.text(parts[0]), let secret = Base64URL.decode(parts[1].utf8),
            let known = try await store.installation(id, team: team),
            ConstantTime.equal(Array(SHA256.hash(data: secret)), known.refreshHash)
        else { return nil }
        return authToken(of: known)
    }

    /// The installation that an auth token proves; `nil` when it proves none, or has expired.
    func authenticate(_ token: String, team: TeamID) async throws -> Installation? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let id = Self.text(parts[0]), let end = Int64(parts[1]),
            Timestamp(rawValue: end) > clock(), let code = Base64URL.decode(parts[2].utf8),
            let known = try await store.installation(id, team: team),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Array("\(parts[0]).\(parts[1])".utf8),
                using: SymmetricKey(data: known.refreshHash))
        else { return nil }
        return known
    }

    private func authToken(of installation: Installation) -> String {
        let end = clock().adding(milliseconds: Self.lifetime * 1000).rawValue
        let said = "\(Base64URL.encode(Array(installation.id.utf8))).\(end)"
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(said.utf8), using: SymmetricKey(data: installation.refreshHash))
        return "\(said).\(Base64URL.encode(Array(code)))"
    }

    /// Generates 22 characters; the first four bits are 0111, as in FCM's libraries.
    private static func newID() -> String {
        var bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0.prefix(17)) }
        bytes[0] = 0b0111_0000 | bytes[0] & 0x0F
        return String(Base64URL.encode(bytes).prefix(22))
    }

    private static func text(_ part: Substring) -> String? {
        guard part.utf8.count <= 2 * longestID else { return nil }
        return Base64URL.decode(part.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
