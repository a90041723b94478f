import Hummingbird
import PushServer

/// The response of `/health`, whether notifications can be made durable, and of `/ready`, whether to send requests
/// here.
struct HealthAnswer: Encodable {
    var status: String
    var version: String?
    var since: String?
    var reason: String?
    /// The remedy, where the failure does not end by itself.
    var remedy: String?
    /// The systems that stand still, each with its file and the remedy; `nil` where all work.
    var systems: [SystemFault]?

    /// 200 while the store commits, also where another system stands still; 503 while it does not.
    static func health(_ status: ServerStatus) -> Response {
        let faults = status.faults()
        guard let failure = status.failure() else {
            var answer = HealthAnswer(status: faults.isEmpty ? "ok" : "degraded", version: status.version)
            answer.systems = faults.isEmpty ? nil : faults
            return .json(answer)
        }
        var answer = HealthAnswer(failure, status.version)
        answer.systems = faults.isEmpty ? nil : faults
        return .json(answer, status: .serviceUnavailable)
    }

    /// The response of `/ready`: 200 while every listener accepts and the store commits, otherwise 503, also while the
    /// server stops.
    static func readiness(_ status: ServerStatus) -> Response {
        if let failure = status.failure() {
            return .json(HealthAnswer(failure, status.version), status: .serviceUnavailable)
        }
        guard status.isReady() else {
            return .json(
                HealthAnswer(
                    status: "notReady", version: status.version,
                    reason: "not every listener accepts connections: the server begins or stops"),
                status: .serviceUnavailable)
        }
        return .json(HealthAnswer(status: "ready", version: status.version))
    }

    private init(
        status: String, version: String?, since: String? = nil, reason: String? = nil, remedy: String? = nil
    ) {
        self.status = status
        self.version = version
        self.since = since
        self.reason = reason
        self.remedy = remedy
    }

    private init(_ failure: StoreHealth.Failure, _ version: String?) {
        self.init(
            status: "failing", version: version, since: failure.since.description, reason: failure.reason,
            remedy: failure.isDamage ? Self.remedy : nil)
    }

    /// The remedy of a damaged database.
    static let remedy = "the database is damaged: stop the server, keep a copy of the file, restore a backup"
}
