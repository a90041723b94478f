import PushCore

/// The canonical status of an answer (google.rpc.Code) with its status in HTTP.
package enum FCMStatus: String, Hashable, Sendable, CaseIterable {
    /// The request is malformed, or has an impossible value.
    case invalidArgument = "INVALID_ARGUMENT"
    /// There is no valid credential, or not the one that is needed.
    case unauthenticated = "UNAUTHENTICATED"
    /// The credential does not allow it.
    case permissionDenied = "PERMISSION_DENIED"
    /// The named resource does not exist, or no longer does.
    case notFound = "NOT_FOUND"
    /// Too much was asked for.
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    /// The server's own fault.
    case `internal` = "INTERNAL"
    /// The server cannot take it now.
    case unavailable = "UNAVAILABLE"

    /// The status in HTTP.
    package var http: Int {
        switch self {
        case .invalidArgument: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .resourceExhausted: 429
        case .internal: 500
        case .unavailable: 503
        }
    }
}

/// FCM's own name of an error (google.firebase.fcm.v1.FcmError), from which libraries make their exceptions.
package enum FCMErrorCode: String, Hashable, Sendable, CaseIterable {
    /// The message is malformed, or has an impossible value.
    case invalidArgument = "INVALID_ARGUMENT"
    /// The token is no longer active, or never was.
    case unregistered = "UNREGISTERED"
    /// The token is another project's.
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    /// More messages than a project may send.
    case quotaExceeded = "QUOTA_EXCEEDED"
    /// The server cannot take the message now.
    case unavailable = "UNAVAILABLE"
    /// The server's own fault.
    case `internal` = "INTERNAL"
    /// The app has no credential for push notifications: it lacks the capability.
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"

    /// The canonical status that goes with it.
    package var status: FCMStatus {
        switch self {
        case .invalidArgument: .invalidArgument
        case .unregistered: .notFound
        case .senderIDMismatch: .permissionDenied
        case .quotaExceeded: .resourceExhausted
        case .unavailable: .unavailable
        case .internal: .internal
        case .thirdPartyAuthError: .unauthenticated
        }
    }
}

/// A request that is not done: for the provider in the form that Google's libraries parse, for the timeline a code and
/// a note.
package struct FCMRejection: Error, Hashable, Sendable {
    /// The canonical status.
    package var status: FCMStatus
    /// FCM's own code; `nil` where the request never came to FCM.
    package var code: FCMErrorCode?
    /// The fault, and what is expected instead; no secret and nothing of the payload.
    package var message: String
    /// The path of the field that was wrong, `message.android.ttl`.
    package var field: String?
    /// Google's name of what is wrong with a credential (google.api.ErrorReason): by it libraries get another access
    /// token.
    package var reason: String?
    /// Seconds after which the request may be made again; for the field `Retry-After`.
    package var retryAfter: Int?

    /// Makes a refusal with one of FCM's codes.
    package init(_ code: FCMErrorCode, _ message: String, field: String? = nil, retryAfter: Int? = nil) {
        status = code.status
        self.code = code
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
    }

    /// Makes a refusal of a request that does not come to FCM.
    package init(_ status: FCMStatus, _ message: String, reason: String? = nil) {
        self.status = status
        self.message = message
        self.reason = reason
    }

    /// A field that is not as it must be.
    package static func invalid(_ field: String, _ message: String) -> FCMRejection {
        FCMRejection(.invalidArgument, message, field: field)
    }

    /// The code that the timeline shows: FCM's, else the canonical one.
    package var timelineCode: String { code?.rawValue ?? status.rawValue }

    /// The note for the timeline.
    package var note: String { field.map { "\($0): \(message)" } ?? message }

    /// The answer's body (google.rpc.Status as JSON).
    ///
    /// - Parameter noted: The id under which the refusal has a timeline, included as google.rpc.RequestInfo.
    package func body(noted: String? = nil) -> [UInt8] {
        var details: [JSONValue] = []
        func detail(_ type: String, _ members: JSONValue.Member...) {
            details.append(.object([.init("@type", .string("type.googleapis.com/\(type)"))] + members))
        }
        if let reason {
            detail(
                "google.rpc.ErrorInfo", .init("reason", .string(reason)), .init("domain", .string("googleapis.com")))
        }
        if let code {
            detail("google.firebase.fcm.v1.FcmError", .init("errorCode", .string(code.rawValue)))
        }
        if let field {
            let violation = JSONValue.object([
                .init("field", .string(field)), .init("description", .string(message)),
            ])
            detail("google.rpc.BadRequest", .init("fieldViolations", .array([violation])))
        }
        if let noted { detail("google.rpc.RequestInfo", .init("requestId", .string(noted))) }
        var members: [JSONValue.Member] = [
            .init("code", .number(String(status.http))), .init("message", .string(field == nil ? message : note)),
            .init("status", .string(status.rawValue)),
        ]
        if !details.isEmpty { members.append(.init("details", .array(details))) }
        return JSONValue.object([.init("error", .object(members))]).bytes
    }
}
