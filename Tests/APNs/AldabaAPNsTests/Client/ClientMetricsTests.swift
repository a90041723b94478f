import Testing

@testable import AldabaAPNs
@testable import Networking

@Suite struct ClientMetricsTests {
    @Test func `a pool's state and the results are told with labels of closed sets`() {
        let registry = PrometheusRegistry()
        let metrics = ClientMetrics(factory: registry)
        var table = PoolTable()
        table.ready(requests: 2, limit: 1)
        metrics.record(from: PoolCounts(), to: PoolCounts(table.pool))
        metrics.count(.accepted)
        metrics.goAways.increment()
        // Another client adds up.
        metrics.record(from: PoolCounts(), to: PoolCounts(table.pool))
        metrics.record(from: PoolCounts(table.pool), to: PoolCounts())
        let text = registry.text()
        for line in [
            #"aldaba_apns_client_connections{state="ready"} 1"#, #"aldaba_apns_client_connections{state="dialing"} 1"#,
            #"aldaba_apns_client_requests{state="queued"} 1"#,
            #"aldaba_apns_client_requests{state="in-flight"} 1"#,
            #"aldaba_apns_client_results_total{result="accepted"} 1"#, "aldaba_apns_client_goaways_total 1",
        ] {
            #expect(text.contains(line + "\n"), "\(line) is not in \(text)")
        }
    }
}
