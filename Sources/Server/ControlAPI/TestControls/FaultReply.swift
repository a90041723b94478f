import FCMProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// The answer that a fault gives on the control port, in the form of the interface.
struct FaultReply {
    private let reply: Fault.Reply
    private let interface: ReceivedRequest.Interface

    init(_ reply: Fault.Reply, _ interface: ReceivedRequest.Interface) {
        self.reply = reply
        self.interface = interface
    }

    private static let message = "a fault that a test has set"

    /// The answer.
    var response: Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=UTF-8", .cacheControl: "no-store"]
        if let seconds = reply.retryAfter { headers[.retryAfter] = String(seconds) }
        return Response(
            status: HTTPResponse.Status(code: reply.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    private var body: [UInt8] {
        switch interface {
        case .oauth:
            JSONValue.object([
                .init(
                    "error",
                    .string(
                        reply.reason
                            ?? ([400, 401].contains(reply.status) ? "invalid_grant" : "temporarily_unavailable"))
                ),
                .init("error_description", .string(Self.message)),
            ]).bytes
        case .fcm: messageBody
        default: JSONValue.object([.init("error", .string(reply.reason ?? Self.message))]).bytes
        }
    }

    /// The body of a refused message, with FCM's code where it has one.
    private var messageBody: [UInt8] {
        if let code = reply.reason.flatMap(FCMErrorCode.init) { return FCMRejection(code, Self.message).body() }
        if reply.reason == nil {
            // An access token that has ended is what libraries get another one for.
            if reply.status == 401 {
                return FCMRejection(.unauthenticated, Self.message, reason: "ACCESS_TOKEN_EXPIRED").body()
            }
            if let code = FCMErrorCode.usual(of: reply.status) { return FCMRejection(code, Self.message).body() }
        }
        return JSONValue.object([
            .init(
                "error",
                .object([
                    .init("code", .number(String(reply.status))), .init("message", .string(Self.message)),
                    .init("status", .string(reply.reason ?? "UNKNOWN")),
                ]))
        ]).bytes
    }

    /// The reason that an answer's body gives: FCM's code, Google's status, or OAuth's error.
    static func reason(in json: JSONValue?) -> String? {
        let error = json?["error"]
        let code = error?["details"]?.items?.lazy.compactMap { $0["errorCode"]?.text }.first
        return code ?? error?["status"]?.text ?? error?.text
    }
}

extension FCMErrorCode {
    /// The code that a status most often has.
    static func usual(of status: Int) -> FCMErrorCode? {
        switch status {
        case 400: .invalidArgument
        case 403: .senderIDMismatch
        default: allCases.first { $0.status.http == status }
        }
    }
}
