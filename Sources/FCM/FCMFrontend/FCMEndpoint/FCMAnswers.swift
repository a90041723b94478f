import FCMProtocol
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Networking
import PushServer

extension Response {
    /// A JSON response that must not be cached.
    static func fcm(_ body: [UInt8], status: Int = 200, retryAfter: Int? = nil) -> Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=UTF-8", .cacheControl: "no-store"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// A refusal as Google's libraries parse it.
    static func fcm(_ refusal: FCMRejection, noted: String? = nil) -> Response {
        .fcm(refusal.body(noted: noted), status: refusal.status.http, retryAfter: refusal.retryAfter)
    }
}

extension FCMRejection {
    private static let failure = RepeatedMessage("a request of FCM's API could not be answered")

    /// The answer to an error of a request. Unexpected errors are logged, and answered without their details.
    static func of(_ error: any Error, logger: Logger) -> FCMRejection {
        switch error {
        case let refusal as FCMRejection: return refusal
        case let error as ControlError: return FCMRejection(.invalidArgument, error.message)
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return FCMRejection(.invalidArgument, "the body is larger than 65536 bytes")
        default:
            failure.log(error, to: logger)
            return .notNow
        }
    }

    /// The server cannot take the message now; it may be sent again.
    static let notNow = FCMRejection(
        .unavailable, "the server cannot take the message now; send it again after the time of Retry-After",
        retryAfter: 5)
}
