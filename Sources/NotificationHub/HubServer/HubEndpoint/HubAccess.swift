import HubProtocol
import PushCore
import PushServer

/// Access rights to a hub, by the credentials of Azure's data plane and of the tutorial's backend.
package struct HubAccess: Sendable {
    /// The reason why a request was refused.
    package enum Refusal: Error, Hashable, Sendable {
        /// 401, with Azure's code and a description.
        case unauthorized(String)
        /// 403: the key lacks a right that a key can have.
        case forbidden
    }

    private let store: any HubStore
    private let names: @Sendable () -> ServerNames
    private let senderTime: @Sendable (Timestamp) -> Timestamp

    /// Judges by the keys that a store holds.
    ///
    /// - Parameters:
    ///   - names: The names by which clients reach the server, for which signatures are made.
    ///   - senderTime: The server's time at a time of the senders' clocks, for a server whose clock is ahead.
    package init(
        store: any HubStore, names: @escaping @Sendable () -> ServerNames,
        senderTime: @escaping @Sendable (Timestamp) -> Timestamp = { $0 }
    ) {
        self.store = store
        self.names = names
        self.senderTime = senderTime
    }

    /// Checks a shared access signature.
    ///
    /// - Parameters:
    ///   - authorization: The field of that name.
    ///   - right: Rights of which one is enough.
    ///   - path: The path that was asked.
    /// - Returns: The credential, by which writes are counted.
    /// - Throws: ``Refusal``, and what the store says.
    @discardableResult
    package func check(
        _ authorization: String?, for right: HubRights, of hub: HubRecord, path: String, now: Timestamp
    ) async throws -> HubWriter {
        guard let authorization else { throw Refusal.unauthorized("MissingToken: the Authorization header is missing") }
        guard let signature = SharedAccessSignature(authorization: authorization), let expiresAt = signature.expiresAt
        else {
            throw Refusal.unauthorized(
                "MalformedToken: expected SharedAccessSignature sr=…&sig=…&se=…&skn=…")
        }
        let key = try await store.keys(of: hub.number).first { $0.name == signature.keyName }
        // A key that does not exist takes as long to check as a wrong one.
        let isFirst = signature.isGenuine(key: key?.primary ?? "")
        let isSecond = signature.isGenuine(key: key?.secondary ?? "")
        guard let key, isFirst || isSecond else {
            throw Refusal.unauthorized("InvalidSignature: The token has an invalid signature.")
        }
        guard senderTime(Timestamp(seconds: expiresAt)) > now else {
            throw Refusal.unauthorized("ExpiredToken: the token has expired")
        }
        let names = names()
        guard signature.covers(path: path, where: { names.include(host: $0) }) else {
            throw Refusal.unauthorized(
                "InvalidAudience: the token was signed for another address than one of this server's names, which are "
                    + "those of its setting server-names or of its certificate")
        }
        guard !key.rights.isDisjoint(with: right) else {
            if right == .manage {
                throw Refusal.unauthorized("Manage claim is required for this operation")
            }
            throw Refusal.forbidden
        }
        try await RequestScope.prove(hub.caller(with: key.rights), key: key.name)
        return HubWriter(key: key.name, isPublished: key.rights.isPublished)
    }

    /// Checks a key of our own API.
    ///
    /// - Parameter right: Rights of which one is enough.
    /// - Returns: The credential, by which writes are counted.
    /// - Throws: ``Refusal``, and what the store says.
    @discardableResult
    package func check(
        apiKey key: String, for right: HubRights, of hub: HubRecord?, now: Timestamp
    ) async throws -> HubWriter {
        let found = try await store.apiKey(hash: HubAPIKey.hash(key))
        guard let found, let hub, found.hub == hub.number else {
            throw Refusal.unauthorized("the key is none of this hub's")
        }
        guard found.expiresAt.map({ $0 > now }) ?? true else { throw Refusal.unauthorized("the key has expired") }
        guard !found.rights.isDisjoint(with: right) else { throw Refusal.forbidden }
        try await RequestScope.prove(hub.caller(with: found.rights), key: found.name)
        return HubWriter(key: found.name, isPublished: found.rights.isPublished)
    }

    /// The hub of a backend's key, and the credential by which writes are counted; `nil` where there is none of it.
    package func hub(backendKey: String) async throws -> (HubRecord, HubWriter)? {
        guard let (hub, name) = try await store.backendKey(hash: HubAPIKey.hash(backendKey)) else { return nil }
        try await RequestScope.prove(.clients(of: hub.team), key: name)
        return (hub, HubWriter(key: name, isPublished: true))
    }
}

extension HubRights {
    /// Whether a key of these rights is made to stand in apps.
    fileprivate var isPublished: Bool { isSubset(of: .listen) }
}

extension HubRecord {
    /// The party that the work of a key's holder is counted for: keys that only listen are in every copy of an app.
    fileprivate func caller(with rights: HubRights) -> Caller {
        rights.isPublished ? .clients(of: team) : .team(team)
    }
}
