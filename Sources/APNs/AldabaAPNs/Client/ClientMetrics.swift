import CoreMetrics

/// The numbers of a pool's connections and requests by state.
struct PoolCounts: Hashable, Sendable {
    var dialing = 0
    var ready = 0
    var retired = 0
    var queued = 0
    var inFlight = 0

    /// Creates the counts of a pool without connections.
    init() {}

    /// Counts the connections and requests of a pool.
    init(_ pool: ConnectionPool) {
        for connection in pool.connections.values {
            if connection.isRetired {
                retired += 1
            } else if connection.limit != nil {
                ready += 1
            } else {
                dialing += 1
            }
        }
        queued = pool.queued
        inFlight = pool.inFlight
    }
}

/// The metrics of a client. Every label is from a closed set, and several clients add up.
final class ClientMetrics: Sendable {
    /// A class of results.
    enum Outcome: String, CaseIterable {
        case accepted, tokenDead, fixConfiguration, retryAfter, dropped, unknown
    }

    let goAways: Counter
    let resends: Counter
    private let outcomes: [Outcome: Counter]
    private let dialing: Meter
    private let ready: Meter
    private let retired: Meter
    private let queued: Meter
    private let inFlight: Meter

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        func makeMeters(_ name: String, _ states: String...) -> [Meter] {
            states.map { Meter(label: name, dimensions: [("state", $0)], factory: factory) }
        }
        goAways = Counter(label: "aldaba_apns_client_goaways_total", dimensions: [], factory: factory)
        resends = Counter(label: "aldaba_apns_client_resends_total", dimensions: [], factory: factory)
        outcomes = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                let labels = [("result", $0.rawValue)]
                return ($0, Counter(label: "aldaba_apns_client_results_total", dimensions: labels, factory: factory))
            })
        let connections = makeMeters("aldaba_apns_client_connections", "dialing", "ready", "retired")
        let requests = makeMeters("aldaba_apns_client_requests", "queued", "in-flight")
        (dialing, ready, retired) = (connections[0], connections[1], connections[2])
        (queued, inFlight) = (requests[0], requests[1])
    }

    /// Counts a result.
    func count(_ outcome: Outcome) { outcomes[outcome]?.increment() }

    /// Records the change of a pool's counts.
    func record(from old: PoolCounts, to new: PoolCounts) {
        add(new.dialing - old.dialing, to: dialing)
        add(new.ready - old.ready, to: ready)
        add(new.retired - old.retired, to: retired)
        add(new.queued - old.queued, to: queued)
        add(new.inFlight - old.inFlight, to: inFlight)
    }

    private func add(_ change: Int, to meter: Meter) {
        if change > 0 {
            meter.increment(by: Double(change))
        } else if change < 0 {
            meter.decrement(by: Double(-change))
        }
    }
}
