import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Networking
import PushCore

/// A refusal of the control API: a status, a code for programs and a message for people.
package struct ControlError: Error {
    /// The status of the response.
    package var status: HTTPResponse.Status
    /// A code for programs, from a closed set.
    package var code: String
    /// A message for people: the fault, and the values that are right.
    package var message: String

    /// Creates a refusal.
    package init(status: HTTPResponse.Status, code: String, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// 400: the request is malformed.
    package static func invalid(_ message: String) -> ControlError {
        ControlError(status: .badRequest, code: "invalid", message: message)
    }

    /// 401: there is no valid credential.
    package static func notAuthorized(_ message: String) -> ControlError {
        ControlError(status: .unauthorized, code: "notAuthorized", message: message)
    }

    /// 415: the body has a coding that is not taken.
    package static func unknownCoding(_ coding: String) -> ControlError {
        ControlError(
            status: .unsupportedMediaType, code: "unsupportedMediaType",
            message:
                "Content-Encoding \(coding.prefix(64)) is not taken here; send the body plain, or gzip where a document is expected"
        )
    }

    /// 404: nothing has the requested name.
    package static let notFound = ControlError(
        status: .notFound, code: "notFound", message: "there is nothing of that name here")

    /// The response when the server itself failed: neither a refusal nor the caller's fault.
    package static let unavailable = ControlError(
        status: .serviceUnavailable, code: "unavailable",
        message: "the server could not find out; try again later")

    /// The response `{"error":{"code":…,"message":…}}` with its status.
    package var response: Response {
        struct Body: Encodable {
            struct Details: Encodable {
                var code: String
                var message: String
            }
            var error: Details
        }
        return .json(Body(error: .init(code: code, message: message)), status: status)
    }

    /// The refusal as a problem (RFC 9457), with its status; `code` is an extension member.
    package var problem: Response {
        struct Body: Encodable {
            var type = "about:blank"
            var title: String
            var status: Int
            var code: String
            var detail: String
        }
        var response = Response.json(
            Body(title: status.reasonPhrase, status: status.code, code: code, detail: message), status: status)
        response.headers[.contentType] = "application/problem+json"
        return response
    }

    /// The refusal in the form of Google's interfaces (google.rpc.Status as JSON), with its status.
    package var statusOfGoogle: Response {
        struct Body: Encodable {
            struct Details: Encodable {
                var code: Int
                var message: String
                var status: String
            }
            var error: Details
        }
        return .json(
            Body(error: .init(code: status.code, message: message, status: canonicalCode)), status: status)
    }

    /// The status's google.rpc.Code.
    private var canonicalCode: String {
        switch status {
        case .unauthorized: "UNAUTHENTICATED"
        case .forbidden: "PERMISSION_DENIED"
        case .notFound: "NOT_FOUND"
        case .conflict: "ALREADY_EXISTS"
        case .tooManyRequests: "RESOURCE_EXHAUSTED"
        case .serviceUnavailable: "UNAVAILABLE"
        default: status.code < 500 ? "INVALID_ARGUMENT" : "INTERNAL"
        }
    }

    /// The response to a request for a path: a problem under `/v1`, except for Google's interfaces there and elsewhere.
    package func response(to path: String) -> Response {
        if ["/v1/projects/", "/v1beta1/projects/"].contains(where: path.hasPrefix) { return statusOfGoogle }
        return path == "/v1" || path.hasPrefix("/v1/") ? problem : response
    }
}

extension Response {
    /// A JSON response with sorted keys; 503 has the field `Retry-After`.
    package static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(value) else { return Response(status: .internalServerError) }
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
        // The server retries failed work by then.
        if status == .serviceUnavailable { headers[.retryAfter] = "5" }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A JSON response whose members are in their order.
    package static func value(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.bytes)))
    }

    /// A text response.
    package static func text(_ text: String, type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension Request {
    /// The whole body, without the coding `gzip` and without a byte order mark before a text.
    ///
    /// - Parameter limit: The longest body that is taken, in bytes, as it is sent and as it is decoded; a request without a
    ///   credential gets less.
    /// - Throws: a refusal; also for a body that is malformed or ends early, which is the caller's fault and not
    ///   logged as an error.
    package func wholeBody(upTo limit: Int = 65_536) async throws -> ByteBuffer {
        let coding = headers[.contentEncoding]?.lowercased() ?? "identity"
        guard ["identity", "gzip", "x-gzip", ""].contains(coding) else { throw ControlError.unknownCoding(coding) }
        let sent = try await bodyAsSent(upTo: limit)
        guard coding.hasSuffix("gzip") else { return sent.withoutMark }
        do {
            return ByteBuffer(bytes: try GzipBody.decoded(Array(buffer: sent), limit: limit)).withoutMark
        } catch {
            switch error {
            case .tooLarge: throw HTTPError(.contentTooLarge)
            case .malformed:
                throw ControlError.invalid("the body is not gzip, as Content-Encoding says, or it ends early")
            }
        }
    }

    /// The whole body as it was sent, for a body whose coding is part of its content.
    ///
    /// - Throws: as ``wholeBody(upTo:)`` does.
    package func bodyAsSent(upTo limit: Int = 65_536) async throws -> ByteBuffer {
        do { return try await body.collect(upTo: limit) } catch let error as any HTTPResponseError {
            throw error
        } catch {
            throw ControlError.invalid("the body cannot be read: it is malformed, or it ends early")
        }
    }
}

extension ByteBuffer {
    /// The bytes without a byte order mark of UTF-8 before JSON or XML.
    fileprivate var withoutMark: ByteBuffer {
        let text = readableBytesView
        guard text.starts(with: [0xEF, 0xBB, 0xBF]), let next = text.dropFirst(3).first,
            "{[< \t\r\n".utf8.contains(next)
        else { return self }
        return ByteBuffer(text.dropFirst(3))
    }
}

private let failure = RepeatedMessage("a request could not be answered")

/// Answers every error as JSON. An unforeseen error is logged, and answered without its details.
package struct ErrorAnswers<Context: RequestContext>: RouterMiddleware {
    /// Creates the middleware; it has no state.
    package init() {}

    /// The response, or the error as a response.
    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let answer = await answer(request, context, next)
        // The response to HEAD has no body (RFC 9110, section 9.3.2): a client would read one as the beginning of the
        // next response.
        return request.method == .head ? answer.createHeadResponse() : answer
    }

    private func answer(
        _ request: Request, _ context: Context, _ next: (Request, Context) async throws -> Response
    ) async -> Response {
        do {
            return try await next(request, context)
        } catch let error as ControlError {
            return error.response(to: request.uri.path)
        } catch let error as any HTTPResponseError {
            return Self.answer(error.status).response(to: request.uri.path)
        } catch {
            failure.log(error, to: context.logger)
            return ControlError.unavailable.response(to: request.uri.path)
        }
    }

    private static func answer(_ status: HTTPResponse.Status) -> ControlError {
        switch status {
        case .notFound: .notFound
        case .contentTooLarge:
            ControlError(status: status, code: "tooLarge", message: "the body is larger than is taken here")
        case .requestTimeout:
            ControlError(status: status, code: "slow", message: "the body comes too slowly; send the request again")
        case .methodNotAllowed:
            ControlError(status: status, code: "methodNotAllowed", message: "this path does not take that method")
        default: ControlError(status: status, code: "invalid", message: "the request cannot be read")
        }
    }
}
