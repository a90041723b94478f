import APNsProtocol
import PushCore
import PushServer

/// Look-up of the public keys to which senders encrypt.
package protocol EncryptionKeyService: Sendable {
    /// The public key of the registration of a device token.
    ///
    /// - Parameters:
    ///   - token: A device token as senders have it, 64 hexadecimal digits.
    ///   - team: The caller's team; `nil` for a caller that may see every team's.
    /// - Throws: An error when the store cannot be read.
    func encryptionKey(of token: String, team: TeamID?) async throws -> EncryptionKeyAnswer
}

/// The result of a look-up of a registration's public key.
package enum EncryptionKeyAnswer: Hashable, Sendable {
    /// The key, and the topic of the app that decrypts with it.
    case key(RecipientPublicKey, Topic)
    /// The registration is active, and has published no key.
    case none
    /// The registration has ended.
    case unregistered
    /// The text is no device token of this server, or belongs to another team's app.
    case unknownToken
}

/// Looks up public keys in the register.
package struct EncryptionKeys: EncryptionKeyService {
    private let store: any RegisterStore
    private let apps: AppDirectory
    private let tokens: TokenDirectory

    /// Creates an instance from its properties.
    package init(store: any RegisterStore, apps: AppDirectory, tokens: TokenDirectory) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
    }

    /// Opens the token and reads the key of its registration. A foreign team's token is always unknown, whatever its
    /// state.
    package func encryptionKey(of token: String, team: TeamID?) async throws -> EncryptionKeyAnswer {
        guard let token = DeviceToken(text: token), let subject = tokens.sealer.open(token),
            let app = try await apps.find(subject.app), team == nil || app.team == team
        else { return .unknownToken }
        switch try await tokens.find(token) {
        case .bad, .needsLookUp: return .unknownToken
        case .ended: return .unregistered
        case .active: break
        }
        let key = try await store.encryptionKey(
            device: subject.device, app: subject.app, environment: subject.environment)
        return key.map { .key($0, app.topic) } ?? .none
    }
}
