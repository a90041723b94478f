import PushCore
import WebPushProtocol

/// A version of UnifiedPush's D-Bus interfaces.
package enum UnifiedPushVersion: Int, Hashable, Sendable, CaseIterable {
    /// `org.unifiedpush.Distributor1` and `Connector1`: arguments by their places.
    case one = 1
    /// `org.unifiedpush.Distributor2` and `Connector2`: a dictionary of variants.
    case two = 2
}

/// The registration of an app with this distributor, under the token that the app has drawn.
package struct UnifiedPushRegistration: Hashable, Sendable {
    /// The app's secret name for the registration.
    package var token: String
    /// The app's well-known bus name.
    package var service: String
    /// The purpose of the registration, for people; may be empty.
    package var description: String
    /// The public key of the only application server that may send, in base64url; `nil` where every server may.
    package var vapid: String?
    /// The version by which the app registered last: messages are delivered by the same.
    package var version: UnifiedPushVersion
    /// The subscription at the server.
    package var channel: PushChannelID
    /// The URL to which application servers send; `nil` until the server has given one.
    package var endpoint: String?

    /// A registration. Each parameter is the property of its name.
    package init(
        token: String, service: String, description: String, vapid: String?, version: UnifiedPushVersion,
        channel: PushChannelID, endpoint: String? = nil
    ) {
        self.token = token
        self.service = service
        self.description = description
        self.vapid = vapid
        self.version = version
        self.channel = channel
        self.endpoint = endpoint
    }
}

/// The arguments of an app's call `Register`, checked.
package struct UnifiedPushRegister: Hashable, Sendable {
    /// The app's well-known bus name.
    package var service: String
    /// The app's secret name for the registration; 1 to 100 bytes.
    package var token: String
    /// The purpose of the registration, for people; at most 100 bytes, of which more are cut off.
    package var description: String
    /// The public key of the application server, in base64url; `nil` for none.
    package var vapid: String?
    /// The version of the interface.
    package var version: UnifiedPushVersion

    /// The maximum length of a token and of a description, in bytes (D-Bus specification 0.3.0, "Resources").
    package static let longestText = 100

    /// Checks the arguments.
    ///
    /// - Throws: A ``Fault`` that says which argument is wrong and what would be right.
    package init(
        service: String?, token: String?, description: String?, vapid: String?, version: UnifiedPushVersion
    ) throws(Fault) {
        guard let service, BusName.isValid(service) else {
            throw Fault(text: "service must be the well-known bus name of the app, such as org.example.App")
        }
        guard let token, !token.isEmpty, token.utf8.count <= Self.longestText else {
            throw Fault(text: "token must be a text of 1 to \(Self.longestText) bytes that nobody can guess")
        }
        var key: String?
        if let vapid, !vapid.isEmpty {
            key = VAPIDToken.key(ofSender: vapid)
            guard key != nil else {
                throw Fault(text: "vapid must be an uncompressed point of P-256 in base64url, of 87 characters")
            }
        }
        self.service = service
        self.token = token
        self.description = Self.cut(description ?? "")
        self.vapid = key
        self.version = version
    }

    private static func cut(_ text: String) -> String {
        var bytes = Array(text.utf8.prefix(longestText))
        // A character that is cut in the middle goes.
        while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The reason why arguments are refused.
    package struct Fault: Error, Hashable {
        /// The argument, and its right form.
        package var text: String

        /// A fault. The parameter is the property of its name.
        package init(text: String) { self.text = text }
    }
}

/// A call of an app that waits for its answer, by the number that the bus connection has given it.
package struct UnifiedPushCall: Hashable, Sendable {
    /// The number.
    package var number: UInt64
    /// The version of the interface, which decides the form of the answer.
    package var version: UnifiedPushVersion

    /// A call. Each parameter is the property of its name.
    package init(number: UInt64, version: UnifiedPushVersion) {
        self.number = number
        self.version = version
    }
}

/// The reason of a registration that failed (D-Bus specification 0.3.0, "Register").
package enum UnifiedPushFailure: String, Hashable, Sendable {
    /// The app may try again later.
    case internalError = "INTERNAL_ERROR"
    /// The server cannot be reached; the app may try again when it can.
    case network = "NETWORK"
    /// A person must do something first: the server has refused the registration.
    case actionRequired = "ACTION_REQUIRED"
    /// The token is another app's.
    case unauthorized = "UNAUTHORIZED"
}

/// A message that waits for an app of UnifiedPush.
package struct UnifiedPushMessage: Hashable, Sendable {
    /// The internal id, which is the message's id for the app too.
    package var id: NotificationID
    /// The registration.
    package var token: String
    /// The app's well-known bus name.
    package var service: String
    /// The body as its sender encrypted it.
    package var body: [UInt8]
    /// Whether it is to be attempted once: its time to live is 0.
    package var isAttemptedOnce: Bool

    /// A message. Each parameter is the property of its name.
    package init(id: NotificationID, token: String, service: String, body: [UInt8], isAttemptedOnce: Bool) {
        self.id = id
        self.token = token
        self.service = service
        self.body = body
        self.isAttemptedOnce = isAttemptedOnce
    }
}
