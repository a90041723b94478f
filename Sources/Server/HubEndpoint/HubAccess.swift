import Hub
import HubWire
import PushModel

/// Who may do what with a hub, by the credentials of Azure's data plane and of the tutorial's backend.
package struct HubAccess: Sendable {
    /// Why a request was refused.
    package enum Refusal: Error, Hashable, Sendable {
        /// 401, with Azure's word and a sentence.
        case unauthorized(String)
        /// 403: the key lacks a right that a key can have.
        case forbidden
    }

    private let store: any HubStore

    /// Judges by the keys that a store holds.
    package init(store: any HubStore) { self.store = store }

    /// Checks a shared access signature.
    ///
    /// - Parameters:
    ///   - authorization: The field of that name.
    ///   - right: Rights of which one is enough.
    ///   - authority: The host that was asked.
    ///   - path: The path that was asked.
    /// - Throws: ``Refusal``, and what the store says.
    package func check(
        _ authorization: String?, for right: HubRights, of hub: HubRecord, authority: String, path: String,
        now: Timestamp
    ) async throws {
        guard let authorization else { throw Refusal.unauthorized("MissingToken: the Authorization header is missing") }
        guard let signature = SharedAccessSignature(authorization: authorization), let expiresAt = signature.expiresAt
        else {
            throw Refusal.unauthorized(
                "MalformedToken: expected SharedAccessSignature sr=…&sig=…&se=…&skn=…")
        }
        let key = try await store.keys(of: hub.number).first { $0.name == signature.keyName }
        // A key that is not there costs as much as one that is wrong.
        let isFirst = signature.isGenuine(key: key?.primary ?? "")
        let isSecond = signature.isGenuine(key: key?.secondary ?? "")
        guard let key, isFirst || isSecond else {
            throw Refusal.unauthorized("InvalidSignature: The token has an invalid signature.")
        }
        guard Timestamp(seconds: expiresAt) > now else {
            throw Refusal.unauthorized("ExpiredToken: the token has expired")
        }
        guard signature.covers(authority: authority, path: path) else {
            throw Refusal.unauthorized("InvalidAudience: the token was signed for another address")
        }
        guard !key.rights.isDisjoint(with: right) else {
            if right == .manage {
                throw Refusal.unauthorized("Manage claim is required for this operation")
            }
            throw Refusal.forbidden
        }
    }

    /// Checks a key of our own API.
    ///
    /// - Parameter right: Rights of which one is enough.
    /// - Throws: ``Refusal``, and what the store says.
    package func check(
        apiKey key: String, for right: HubRights, of hub: HubRecord?, now: Timestamp
    ) async throws {
        let found = try await store.apiKey(hash: HubAPIKey.hash(key))
        guard let found, let hub, found.hub == hub.number else {
            throw Refusal.unauthorized("the key is none of this hub's")
        }
        guard found.expiresAt.map({ $0 > now }) ?? true else { throw Refusal.unauthorized("the key has expired") }
        guard !found.rights.isDisjoint(with: right) else { throw Refusal.forbidden }
    }

    /// The hub of a backend's key; `nil` where there is none of it.
    package func hub(backendKey: String) async throws -> HubRecord? {
        try await store.backendKey(hash: HubAPIKey.hash(backendKey))?.0
    }
}
