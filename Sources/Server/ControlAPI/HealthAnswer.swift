import Hummingbird
import ServerCore

/// The answer of `/health`: whether what is accepted can be made durable.
struct HealthAnswer: Encodable {
    var status: String
    var since: String?
    var reason: String?

    /// 200 while the store commits, 503 while it does not.
    static func response(to failure: StoreHealth.Failure?) -> Response {
        guard let failure else { return .json(HealthAnswer(status: "ok")) }
        return .json(
            HealthAnswer(status: "failing", since: failure.since.description, reason: failure.reason),
            status: .serviceUnavailable)
    }
}
