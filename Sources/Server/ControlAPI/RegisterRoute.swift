import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Observability
import PushModel
import ServerCore

/// `POST /c2dm/register3`: an app on a device gets its device token, or gives it up (`delete=true`).
///
/// The form's `app` is the topic, `sender` the team, `X-environment` the environment (`production` if absent).
/// The answer is `token=…` or `Error=CODE`, as the clients of that interface read it.
struct RegisterRoute: Sendable {
    let enrolment: any EnrolmentService

    /// The interface's error codes that we use, and their statuses.
    enum Code: String {
        case authenticationFailed = "AUTHENTICATION_FAILED"
        case invalidSender = "INVALID_SENDER"
        case invalidParameters = "INVALID_PARAMETERS"
        case internalServerError = "InternalServerError"

        var response: Response {
            let status: HTTPResponse.Status =
                switch self {
                case .authenticationFailed: .unauthorized
                case .invalidSender, .invalidParameters: .badRequest
                case .internalServerError: .serviceUnavailable
                }
            return .text("Error=\(rawValue)", type: "text/plain; charset=utf-8", status: status)
        }
    }

    func respond(_ request: Request, logger: Logger) async throws -> Response {
        let body = try await request.wholeBody()
        guard let credentials = Self.credentials(request.headers[.authorization]) else {
            return Code.authenticationFailed.response
        }
        let form = FormFields(String(buffer: body))
        let environmentName = form.first("X-environment") ?? PushEnvironment.production.rawValue
        guard let app = form.first("app"), Topic.hasShape(app),
            let environment = PushEnvironment(rawValue: environmentName.lowercased())
        else { return Code.invalidParameters.response }
        do {
            if form.first("delete") == "true" {
                return answer(
                    try await enrolment.unregister(
                        credentials, topic: Topic(rawValue: app), environment: environment), topic: app)
            }
            guard let sender = form.first("sender"), TeamID.hasShape(sender) else { return Code.invalidSender.response }
            return answer(
                try await enrolment.register(
                    credentials, topic: Topic(rawValue: app), team: TeamID(rawValue: sender), environment: environment),
                topic: app)
        } catch {
            logger.error("a registration could not be answered", metadata: [LogKey.error: "\(error)"])
            return Code.internalServerError.response
        }
    }

    private func answer(_ outcome: RegistrationOutcome, topic: String) -> Response {
        switch outcome {
        case .token(let token): .text("token=\(token)", type: "text/plain; charset=utf-8")
        case .unregistered: .text("token=\(topic)", type: "text/plain; charset=utf-8")
        case .notAuthenticated: Code.authenticationFailed.response
        case .unknownTopic: Code.invalidSender.response
        }
    }

    /// Reads `AidLogin ID:SECRET`, both decimal.
    static func credentials(_ authorization: String?) -> DeviceCredentials? {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "aidlogin"
        else { return nil }
        let parts = authorization[authorization.index(after: space)...].split(
            separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = UInt64(parts[0]), let device = DeviceID(id), let secret = UInt64(parts[1])
        else { return nil }
        return DeviceCredentials(device: device, secret: secret)
    }
}
