import AppHost
import Foundation

/// The environment of an app's device token. Raw values are Firebase's; this system tells the environments apart by
/// itself.
public enum MessagingAPNSTokenType: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// A token of the development environment.
    case sandbox = 1
    /// A token of the production environment.
    case prod = 2
}

// Registration tokens: those of FCM are those of APNs here, so one ends with the other.
extension Messaging {
    /// The registration token; `nil` until it is known.
    public var fcmToken: String? { read { $0.token } }

    /// The device token's bytes. Set by itself, unless `FirebaseAppDelegateProxyEnabled` is NO or the app has set it.
    public var apnsToken: Data? {
        get { read { $0.apnsToken } }
        set { setAPNSToken(newValue ?? Data(), type: .unknown) }
    }

    /// Sets the device token by hand.
    public func setAPNSToken(_ apnsToken: Data, type: MessagingAPNSTokenType) {
        read {
            $0.apnsToken = apnsToken.isEmpty ? nil : apnsToken
            $0.apnsTokenIsSet = true
        }
    }

    /// Whether the token is requested automatically; by the app's files, unless it is set.
    public var isAutoInitEnabled: Bool {
        get { read { $0.isAutoInitEnabled } }
        set {
            let mustAsk = read { state in
                defer { state.isAutoInitEnabled = newValue }
                return newValue && !state.isAutoInitEnabled && state.token == nil
            }
            if mustAsk { onHost { _, host in host.requestToken() } }
        }
    }

    /// Returns the registration token, which is requested where there is none yet.
    @preconcurrency
    public func token(completion: @escaping @Sendable (String?, (any Error)?) -> Void) {
        guard isConfigured(completion: { completion(nil, $0) }) else { return }
        let known = read { state in
            if state.token == nil {
                state.tokenWaiters.append { result in
                    Self.onMain {
                        switch result {
                        case .success(let token): completion(token, nil)
                        case .failure(let error): completion(nil, error)
                        }
                    }
                }
            }
            return state.token
        }
        if let known { return Self.onMain { completion(known, nil) } }
        onHost { _, host in host.requestToken() }
    }

    /// Returns the registration token, which is requested where there is none yet.
    public func token() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            token { token, error in
                if let token {
                    continuation.resume(returning: token)
                } else {
                    continuation.resume(throwing: error ?? MessagingError(.unknown, "there is no token"))
                }
            }
        }
    }

    /// Ends the registration token. A new one is made when it is next asked for.
    ///
    /// `completion` is called when the server has ended it, or with an error. ``MessagingError/Code/network`` means
    /// that the server cannot be reached: the agent goes on asking for the end as long as it runs, until the app wants
    /// a token again. With the other codes the token stays.
    @preconcurrency
    public func deleteToken(completion: @escaping @Sendable ((any Error)?) -> Void) {
        guard isConfigured(completion: completion) else { return }
        onHost { messaging, host in
            let waiters = messaging.read { state in
                (state.token, state.toldToken) = (nil, nil)
                defer { state.tokenWaiters = [] }
                return state.tokenWaiters
            }
            for waiter in waiters {
                waiter(.failure(MessagingError(.operationInProgress, "the token was deleted meanwhile")))
            }
            host.endToken { answer in
                Self.onMain { completion(Self.error(answer)) }
            }
        }
    }

    /// Ends the registration token, as ``deleteToken(completion:)`` does.
    public func deleteToken() async throws {
        try await Self.asynchronously { deleteToken(completion: $0) }
    }

    /// Gives the registration token. The sender must be that of the app's options: an app has one token here, of its
    /// own project; for another one the completion gets ``MessagingError/Code/invalidRequest``.
    @preconcurrency
    public func retrieveFCMToken(
        forSenderID senderID: String, completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        guard isOwn(senderID, completion: { completion(nil, $0) }) else { return }
        token(completion: completion)
    }

    /// Ends the registration token as ``deleteToken(completion:)`` does, where the sender is that of the app's options.
    /// Other senders have no token to end.
    @preconcurrency
    public func deleteFCMToken(
        forSenderID senderID: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        guard isOwn(senderID, completion: completion) else { return }
        deleteToken(completion: completion)
    }

    /// Ends everything that identifies this app to the server: its registration token, as ``deleteToken(completion:)``
    /// does.
    @preconcurrency
    public func deleteData(completion: @escaping @Sendable ((any Error)?) -> Void) {
        deleteToken(completion: completion)
    }

    // MARK: Events of the host

    /// The name of the notification that FirebaseInstanceID's observers receive for a new token.
    package static let tokenRefreshName = "com.firebase.iid.notif.refresh-token"

    @MainActor func tokenChanged(_ token: String) {
        let (waiters, isNews) = read { state in
            if state.isProxyEnabled, !state.apnsTokenIsSet { state.apnsToken = DeviceTokenText.bytes(hex: token) }
            let isNews = state.token != token
            return (state.tokenArrived(token), isNews)
        }
        for waiter in waiters { waiter(.success(token)) }
        if isNews { NotificationCenter.default.post(name: .init(Self.tokenRefreshName), object: token) }
        tellFirstToken()
    }

    @MainActor func tokenFailed(code: String, message: String) {
        let waiters = read { state in
            defer { state.tokenWaiters = [] }
            return state.tokenWaiters
        }
        for waiter in waiters { waiter(.failure(MessagingError(upstreamCode: code, message))) }
    }

    /// Passes the token to the delegate, if there is one that the delegate does not have.
    @MainActor func tellFirstToken() {
        guard let delegate else { return }
        let untold: String? = read { state in
            guard let token = state.token, token != state.toldToken else { return nil }
            state.toldToken = token
            return token
        }
        guard let untold else { return }
        delegate.messaging(self, didReceiveRegistrationToken: untold as String?)
        delegate.messaging(self, didReceiveRegistrationToken: untold as String)
        delegate.messaging(self, didRefreshRegistrationToken: untold)
        NotificationCenter.default.post(name: .MessagingRegistrationTokenRefreshed, object: untold)
    }

    // MARK: Helping

    /// Whether Firebase is configured; else the completion gets an error.
    func isConfigured(completion: @escaping @Sendable ((any Error)?) -> Void) -> Bool {
        guard !read({ $0.isConfigured }) else { return true }
        Self.onMain { completion(MessagingError(.invalidRequest, "FirebaseApp.configure() was not called")) }
        return false
    }

    /// Whether Firebase is configured with this sender; else the completion gets an error.
    private func isOwn(_ sender: String, completion: @escaping @Sendable ((any Error)?) -> Void) -> Bool {
        guard isConfigured(completion: completion) else { return false }
        let own = ownSender()
        guard sender.isEmpty || own.map({ $0 != sender }) ?? false else { return true }
        let sentence =
            sender.isEmpty
            ? "a sender's number is needed" : "the app's sender is \(own ?? ""); there is no token of another one"
        Self.onMain { completion(MessagingError(.invalidRequest, sentence)) }
        return false
    }

    static func onMain(_ work: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: work) }

    /// Waits for a completion handler that takes an optional error, and throws the error.
    static func asynchronously(_ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            call { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }
}
