import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The routes `GET /v1/status` and `GET /v1/metrics/history`, on listeners without credentials alone: they tell of every team.
package struct ConditionInterface: ControlInterface {
    private let condition: ServerCondition
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    package init(_ condition: ServerCondition, clock: @escaping @Sendable () -> Timestamp) {
        self.condition = condition
        self.clock = clock
    }

    /// Adds the routes.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        guard !isSecured else { return }
        let access = ProviderAccess(authentication: nil)
        router.get("v1/status") { request, _ in
            _ = try await access.team(request.headers[.authorization])
            return Response.json(await StatusAnswer(condition, at: clock()))
        }
        router.get("v1/metrics/history") { request, _ in
            _ = try await access.team(request.headers[.authorization])
            let word = request.uri.queryParameters["span"].map(String.init) ?? "hour"
            guard let span = MetricsHistory.Span(rawValue: word) else {
                throw ControlError.invalid("span is \"\(word.prefix(20))\"; hour or day would be right")
            }
            return Response.json(HistoryAnswer(span, condition.recorder.samples(span)))
        }
    }
}

/// The condition of a server in the form of the API.
private struct StatusAnswer: Encodable {
    struct Failure: Encodable {
        var since: String
        var reason: String
        var remedy: String?
    }

    struct Certificate: Encodable {
        var kind: String
        var name: String
        var endsAt: String
        var daysLeft: Int
        var isUsable: Bool
    }

    struct Disk: Encodable {
        /// `ok`, `low`, `full`, or `readOnly`.
        var state: String
        var free: Int64
        var total: Int64
    }

    /// `ok`, `degraded`, or `failing`.
    var status: String
    var isReady: Bool
    var version: String?
    /// Why the store does not commit; absent while it does.
    var failure: Failure?
    /// The systems that stand still.
    var systems: [SystemFault]
    /// The certificates that end, the next first; absent where they cannot be read.
    var certificates: [Certificate]?
    var disk: Disk?
    var waiting: Int
    var oldestWaitingSeconds: Int
    var connected: Int
    var storeFailures: Int

    /// The number of certificates that are told.
    private static let limit = 100

    init(_ condition: ServerCondition, at now: Timestamp) async {
        let faults = condition.status.faults()
        let failure = condition.status.failure()
        status = failure != nil ? "failing" : faults.isEmpty ? "ok" : "degraded"
        isReady = condition.status.isReady()
        version = condition.status.version
        self.failure = failure.map {
            Failure(
                since: $0.since.description, reason: $0.reason, remedy: $0.isDamage ? HealthAnswer.remedy : nil)
        }
        systems = faults
        // A register that cannot be read is told as the store's failure.
        certificates = try? await condition.certificates().sorted { $0.endsAt < $1.endsAt }.prefix(Self.limit).map {
            Certificate(
                kind: $0.kind.rawValue, name: $0.name, endsAt: $0.endsAt.description, daysLeft: $0.daysLeft(at: now),
                isUsable: $0.isUsable)
        }
        disk = condition.disk().map { Disk(state: $0.state, free: $0.free, total: $0.total) }
        let totals = condition.recorder.totals
        waiting = totals.waiting
        oldestWaitingSeconds = totals.oldestWaiting
        connected = totals.connected
        storeFailures = totals.storeFailures
    }
}

/// The history of metrics in the form of the API.
private struct HistoryAnswer: Encodable {
    struct Sample: Encodable {
        /// The beginning of the sample's minutes.
        var at: String
        var accepted: Int
        var delivered: Int
        var shown: Int
        var refused: [String: Int]
        var waiting: Int
        var connected: Int
        var storeFailures: Int
    }

    var span: String
    /// The length of each sample, in seconds.
    var step: Int64
    var samples: [Sample]

    init(_ span: MetricsHistory.Span, _ samples: [MetricsHistory.Sample]) {
        self.span = span.rawValue
        step = span.step * 60
        self.samples = samples.map { sample in
            let counts = sample.counts
            return Sample(
                at: sample.at.description, accepted: counts.accepted, delivered: counts.delivered, shown: counts.shown,
                refused: counts.refused, waiting: counts.waiting, connected: counts.connected,
                storeFailures: counts.storeFailures)
        }
    }
}
