import FirebaseMessaging
import Foundation

/// The scope of the registration token (`token(withAuthorizedEntity:scope:options:handler:)`).
public let InstanceIDScopeFirebaseMessaging = "fcm"

/// Takes a registration token, or an error, on the main queue.
public typealias InstanceIDTokenHandler = @Sendable (String?, (any Error)?) -> Void
/// Takes the error with which a deletion failed, or `nil`, on the main queue.
public typealias InstanceIDDeleteTokenHandler = @Sendable ((any Error)?) -> Void
/// Takes the instance's id, or an error, on the main queue.
public typealias InstanceIDHandler = @Sendable (String?, (any Error)?) -> Void
/// Takes the error with which a deletion failed, or `nil`, on the main queue.
public typealias InstanceIDDeleteHandler = @Sendable ((any Error)?) -> Void
/// Takes the instance's id and token, or an error, on the main queue.
public typealias InstanceIDResultHandler = @Sendable (InstanceIDResult?, (any Error)?) -> Void

extension NSNotification.Name {
    /// The registration token is known, or is another one; the object is the token.
    public static let InstanceIDTokenRefresh = NSNotification.Name(Messaging.tokenRefreshName)
}

/// The id of this app's instance and its registration token, by the names that code of Firebase 6 and earlier has for
/// them.
///
/// The id follows from the token, so that it is another one when the token is.
///
/// Sendable is unchecked for the superclass; nothing in it changes.
open class InstanceID: NSObject, @unchecked Sendable {
    private static let shared = InstanceID(messaging: .messaging())
    let messaging: Messaging

    /// The instance of a messaging. An app has one, ``instanceID()``; tests make others.
    package init(messaging: Messaging) {
        self.messaging = messaging
        super.init()
    }

    /// There is one in an app.
    @available(*, unavailable, message: "use InstanceID.instanceID()")
    public override init() { fatalError("use InstanceID.instanceID()") }

    /// The instance of this app.
    open class func instanceID() -> InstanceID { shared }

    // MARK: The token

    /// The registration token; `nil` until it is known.
    open func token() -> String? { messaging.fcmToken }

    /// Returns the id and the registration token, which is requested where there is none yet.
    @preconcurrency
    open func instanceID(handler: @escaping InstanceIDResultHandler) {
        messaging.token { token, error in
            handler(token.map(InstanceIDResult.init(token:)), error.map(Self.error))
        }
    }

    /// Returns the registration token, which is requested where there is none yet. The entity must be the sender of the
    /// app's options and the scope that of messages; else the handler gets ``InstanceIDError/invalidRequest``.
    @preconcurrency
    open func token(
        withAuthorizedEntity authorizedEntity: String, scope: String, options: [AnyHashable: Any]? = nil,
        handler: @escaping InstanceIDTokenHandler
    ) {
        guard Self.isOfMessages(scope) else { return Self.refuse(scope) { handler(nil, $0) } }
        messaging.retrieveFCMToken(forSenderID: authorizedEntity) { handler($0, $1.map(Self.error)) }
    }

    /// Ends the registration token; completes when the server has ended it, or with an error. The entity must be the
    /// sender of the app's options, and the scope that of messages or `*`; else the handler gets
    /// ``InstanceIDError/invalidRequest``.
    @preconcurrency
    open func deleteToken(
        withAuthorizedEntity authorizedEntity: String, scope: String, handler: @escaping InstanceIDDeleteTokenHandler
    ) {
        guard scope == "*" || Self.isOfMessages(scope) else { return Self.refuse(scope, handler) }
        messaging.deleteFCMToken(forSenderID: authorizedEntity) { handler($0.map(Self.error)) }
    }

    // MARK: The id

    /// Returns the id of this app's instance, for which the token is requested where there is none yet.
    @preconcurrency
    open func getID(handler: @escaping InstanceIDHandler) { instanceID { handler($0?.instanceID, $1) } }

    /// Ends the id and the registration token; completes when the server has ended it, or with an error.
    @preconcurrency
    open func deleteID(handler: @escaping InstanceIDDeleteHandler) {
        messaging.deleteData { handler($0.map(Self.error)) }
    }

    // MARK: Scopes and errors

    /// The scope of messages has had three names.
    private static func isOfMessages(_ scope: String) -> Bool {
        [InstanceIDScopeFirebaseMessaging, "FCM", "GCM"].contains(scope)
    }

    private static func refuse(_ scope: String, _ handler: @escaping InstanceIDDeleteHandler) {
        DispatchQueue.main.async {
            handler(
                error(
                    .invalidRequest,
                    "there is no token of the scope \"\(scope)\"; that of messages is "
                        + "\"\(InstanceIDScopeFirebaseMessaging)\""))
        }
    }

    /// The error of messaging, as one of this module: their codes are the same.
    private static func error(_ error: any Error) -> any Error {
        let code = (error as? MessagingError).flatMap { UInt(exactly: $0.errorCode) }.flatMap(InstanceIDError.init)
        return Self.error(code ?? .unknown, error.localizedDescription)
    }

    private static func error(_ code: InstanceIDError, _ sentence: String) -> any Error {
        NSError(
            domain: "com.firebase.iid", code: Int(code.rawValue), userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}
