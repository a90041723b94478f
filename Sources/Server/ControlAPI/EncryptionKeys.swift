import APNsWire
import PushEncryption
import PushModel
import RegisterCore

/// Who tells those who want to encrypt which key they encrypt to.
public protocol EncryptionKeyService: Sendable {
    /// The public key of the registration that a device token names.
    ///
    /// - Parameters:
    ///   - token: A device token as senders have it, 64 hexadecimal digits.
    ///   - team: Who asks; `nil` for somebody who may see every team's.
    /// - Throws: when the store cannot be read.
    func encryptionKey(of token: String, team: TeamID?) async throws -> EncryptionKeyAnswer
}

/// What is known of a registration's public key.
public enum EncryptionKeyAnswer: Hashable, Sendable {
    /// The key, and the topic of the app that opens what is encrypted to it.
    case key(RecipientPublicKey, Topic)
    /// The registration is active, and has published none.
    case none
    /// The registration has ended.
    case unregistered
    /// It is no device token of this server, or one of another team's app.
    case unknownToken
}

/// Answers for public keys from the register.
public struct EncryptionKeys: EncryptionKeyService {
    private let store: any RegisterStore
    private let apps: AppDirectory
    private let tokens: TokenDirectory

    /// Brings the parts together.
    public init(store: any RegisterStore, apps: AppDirectory, tokens: TokenDirectory) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
    }

    /// Opens the token and reads the key of its registration. A foreign team's token is not known, whatever became of it.
    public func encryptionKey(of token: String, team: TeamID?) async throws -> EncryptionKeyAnswer {
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
