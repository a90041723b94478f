import ControlAPI
import CoreMetrics
import Networking
import Synchronization
import Testing

@Test func `readiness is told apart from health, both with the version`() async throws {
    let flag = Flag()
    let status = ServerStatus(failure: { nil }, isReady: { flag.isSet }, version: "1.2.3")
    try await withListener(.metrics(PrometheusRegistry(), status)) { listener in
        #expect(try await listener.send("GET", "/health").body == #"{"status":"ok","version":"1.2.3"}"#)
        let early = try await listener.send("GET", "/ready")
        #expect(early.status == 503 && early.retryAfter == "5")
        #expect(early.body.hasSuffix(#""status":"notReady","version":"1.2.3"}"#))
        flag.set()
        let ready = try await listener.send("GET", "/ready")
        #expect(ready.status == 200 && ready.body == #"{"status":"ready","version":"1.2.3"}"#)
    }
}

@Test func `health names the systems that stand still, and readiness does not depend on them`() async throws {
    let fault = SystemFault(system: "hub", file: "hub.sqlite", reason: "hub.sqlite is damaged", remedy: "restore it")
    let status = ServerStatus(failure: { nil }, faults: { [fault] }, version: "1.2.3")
    try await withListener(.metrics(PrometheusRegistry(), status)) { listener in
        let health = try await listener.send("GET", "/health")
        let system =
            #"{"file":"hub.sqlite","reason":"hub.sqlite is damaged","remedy":"restore it","system":"hub"}"#
        #expect(health.status == 200)
        #expect(health.body == #"{"status":"degraded","systems":[\#(system)],"version":"1.2.3"}"#)
        let ready = try await listener.send("GET", "/ready")
        #expect(ready.status == 200 && ready.body == #"{"status":"ready","version":"1.2.3"}"#)
    }
}

@Test func `metrics are OpenMetrics where a client asks for that`() async throws {
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "c", dimensions: []).increment(by: 3)
    try await withListener(.metrics(registry, ServerStatus(failure: { nil }))) { listener in
        let answer = try await listener.send("GET", "/metrics", headers: ["accept": "application/openmetrics-text"])
        #expect(answer.body.contains("# TYPE c counter\nc_total 3\n") && answer.body.hasSuffix("# EOF\n"))
    }
}

/// Something that becomes true once.
private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
