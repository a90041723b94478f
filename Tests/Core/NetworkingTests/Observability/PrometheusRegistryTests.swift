import CoreMetrics
import Testing

@testable import Networking

@Test func `a counter's text has its type, its labels in order and its value`() {
    let registry = PrometheusRegistry()
    let counter = registry.makeCounter(label: "aldaba.accepted", dimensions: [("lane", "apns"), ("door", "a")])
    counter.increment(by: 2)
    counter.increment(by: -5)
    #expect(
        registry.text().hasPrefix(
            """
            # TYPE aldaba_accepted_total counter
            aldaba_accepted_total{door="a",lane="apns"} 2

            """))
}

@Test func `the same name and labels are one series, in whatever order the labels come`() {
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "c", dimensions: [("a", "1"), ("b", "2")]).increment(by: 1)
    registry.makeCounter(label: "c", dimensions: [("b", "2"), ("a", "1")]).increment(by: 1)
    #expect(registry.text().contains(#"c_total{a="1",b="2"} 2"#))
}

@Test func `a timer is a histogram in seconds whose buckets add up`() {
    let registry = PrometheusRegistry()
    let timer = registry.makeTimer(label: "commit", dimensions: [])
    timer.recordNanoseconds(2_000_000)
    timer.recordNanoseconds(20_000_000_000)
    let text = registry.text()
    #expect(text.contains("# TYPE commit_seconds histogram\n"))
    #expect(text.contains(#"commit_seconds_bucket{le="0.001"} 0"#))
    #expect(text.contains(#"commit_seconds_bucket{le="0.0025"} 1"#))
    #expect(text.contains(#"commit_seconds_bucket{le="10"} 1"#))
    #expect(text.contains(#"commit_seconds_bucket{le="+Inf"} 2"#))
    #expect(text.contains("commit_seconds_count 2\n"))
    #expect(text.contains("commit_seconds_sum 20.002\n"))
}

@Test func `a meter goes up and down and a gauge keeps the last value`() {
    let registry = PrometheusRegistry()
    let meter = registry.makeMeter(label: "sessions", dimensions: [])
    meter.increment(by: 3)
    meter.decrement(by: 1)
    registry.makeRecorder(label: "load", dimensions: [], aggregate: false).record(0.5)
    #expect(registry.text().contains("sessions 2\n"))
    #expect(registry.text().contains("load 0.5\n"))
}

@Test func `beyond the limit a series is refused and counted, and known ones go on`() {
    let registry = PrometheusRegistry(limit: 2)
    let first = registry.makeCounter(label: "c", dimensions: [("n", "1")])
    _ = registry.makeCounter(label: "c", dimensions: [("n", "2")])
    registry.makeCounter(label: "c", dimensions: [("n", "3")]).increment(by: 1)
    first.increment(by: 7)
    let text = registry.text()
    #expect(text.contains(#"c_total{n="1"} 7"#))
    #expect(!text.contains(#"n="3""#))
    #expect(text.contains("aldaba_metrics_refused_series_total 1\n"))
}

@Test func `a name that belongs to another kind is refused`() {
    let registry = PrometheusRegistry()
    _ = registry.makeMeter(label: "x", dimensions: [])
    registry.makeRecorder(label: "x", dimensions: [], aggregate: true).record(Int64(1))
    #expect(registry.text().contains("aldaba_metrics_refused_series_total 1\n"))
}

@Test func `a destroyed series leaves the text and makes room`() {
    let registry = PrometheusRegistry(limit: 1)
    registry.destroyCounter(registry.makeCounter(label: "c", dimensions: []))
    #expect(!registry.text().contains("c_total"))
    registry.makeCounter(label: "d", dimensions: []).increment(by: 1)
    #expect(registry.text().contains("d_total 1\n"))
}

@Test(arguments: [
    ("a.b-c", "a_b_c"), ("9lives", "_9lives"), ("", "_"), ("ok:name", "ok:name"), ("é", "_"),
])
func `names are made valid`(name: String, valid: String) {
    #expect(PrometheusText.metricName(name) == valid)
}

@Test func `a label's value is escaped`() {
    #expect(PrometheusText.labels([(name: "a:b", value: "x\\\"\ny")]) == #"{a_b="x\\\"\ny"}"#)
}

@Test(arguments: [
    (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (3, "3"), (0.25, "0.25"), (1e300, "1e+300"),
])
func `numbers are written as Prometheus reads them`(value: Double, text: String) {
    #expect(PrometheusText.number(value) == text)
}
