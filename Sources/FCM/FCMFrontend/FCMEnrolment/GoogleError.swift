import HTTPTypes
import Hummingbird
import PushServer

/// A refusal in the form that Google's libraries parse: `{"error":{"code":…,"message":…,"status":…}}`.
struct GoogleError: Error {
    var status: HTTPResponse.Status
    /// Google's name for the kind of refusal.
    var name: String
    var message: String

    static func invalid(_ message: String) -> GoogleError {
        GoogleError(status: .badRequest, name: "INVALID_ARGUMENT", message: message)
    }

    static func unauthenticated(_ message: String) -> GoogleError {
        GoogleError(status: .unauthorized, name: "UNAUTHENTICATED", message: message)
    }

    static func notFound(_ message: String) -> GoogleError {
        GoogleError(status: .notFound, name: "NOT_FOUND", message: message)
    }

    static func denied(_ message: String) -> GoogleError {
        GoogleError(status: .forbidden, name: "PERMISSION_DENIED", message: message)
    }

    static func aborted(_ message: String) -> GoogleError {
        GoogleError(status: .conflict, name: "ABORTED", message: message)
    }

    static func exhausted(_ message: String) -> GoogleError {
        GoogleError(status: .tooManyRequests, name: "RESOURCE_EXHAUSTED", message: message)
    }

    static let unavailable = GoogleError(
        status: .serviceUnavailable, name: "UNAVAILABLE", message: "the server could not find out; try again later")

    var response: Response {
        struct Body: Encodable {
            struct Details: Encodable {
                var code: Int
                var message: String
                var status: String
            }
            var error: Details
        }
        return .json(Body(error: .init(code: status.code, message: message, status: name)), status: status)
    }
}
