import CoreMetrics
import Glibc
import Logging
import Synchronization
import Testing

@testable import Networking

@Test func `a family has its help before its type, in both formats`() async {
    let registry = PrometheusRegistry(families: ["c_total": MetricFamily("What\nis \\ counted.")])
    registry.makeCounter(label: "c", dimensions: []).increment(by: 2)
    let text = await registry.scrape(.prometheus)
    #expect(text.hasPrefix("# HELP aldaba_metrics") == false)
    #expect(text.contains("# HELP c_total What\\nis \\\\ counted.\n# TYPE c_total counter\nc_total 2\n"))
    #expect(!text.contains("# EOF"))
    let open = await registry.scrape(.openMetrics)
    #expect(open.contains("# HELP c What\\nis \\\\ counted.\n# TYPE c counter\nc_total 2\n"))
    #expect(open.hasSuffix("# EOF\n"))
}

@Test func `a family's own bounds are its buckets, floating-point numbers in OpenMetrics`() async {
    let registry = PrometheusRegistry(families: ["wait_seconds": MetricFamily("Waits.", bounds: [1, 60])])
    registry.makeTimer(label: "wait", dimensions: []).recordNanoseconds(2_000_000_000)
    let text = await registry.scrape(.prometheus)
    #expect(text.contains("wait_seconds_bucket{le=\"1\"} 0\nwait_seconds_bucket{le=\"60\"} 1\n"))
    #expect(await registry.scrape(.openMetrics).contains("wait_seconds_bucket{le=\"60.0\"} 1\n"))
}

@Test func `what is collected is read with each scrape`() async {
    let registry = PrometheusRegistry()
    registry.collect { [MetricSample(.gauge, "load", [("cpu", "0")], value: 0.5)] }
    registry.collect { [MetricSample(.gauge, "load", [("cpu", "1")], value: 1)] }
    let text = await registry.scrape(.prometheus)
    #expect(text.contains("# TYPE load gauge\nload{cpu=\"0\"} 0.5\nload{cpu=\"1\"} 1\n"))
    #expect(!registry.text().contains("load"))
}

@Test(
    arguments: [
        (nil, MetricsFormat.prometheus), ("*/*", .prometheus), ("text/html", .prometheus),
        ("application/openmetrics-text", .openMetrics),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", .openMetrics),
        ("application/openmetrics-text;version=0.0.1", .prometheus), ("application/openmetrics-text;q=0", .prometheus),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
                + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2", .openMetrics
        ),
        ("application/openmetrics-text;q=0.2, text/plain", .prometheus), ("\u{0},;;=,q", .prometheus),
    ] as [(String?, MetricsFormat)])
func `the field Accept chooses the format`(accept: String?, format: MetricsFormat) {
    #expect(MetricsFormat(accept: accept) == format)
}

@Test func `a process's name does not move the fields behind it`() {
    #expect(ProcessMetrics.statFields("12 (a) b) c) S 1 2\n") == ["S", "1", "2"])
    #expect(ProcessMetrics.statFields("12 S") == nil)
    let samples = Dictionary(uniqueKeysWithValues: ProcessMetrics.samples().map { ($0.name, $0.value) })
    #expect(samples.count == 7)
    #expect((samples["process_open_fds"] ?? 0) >= 3)
    #expect((samples["process_start_time_seconds"] ?? 0) > 1_600_000_000)
    #expect((samples["process_resident_memory_bytes"] ?? 0) > 1_048_576)
}

@Test func `a line of JSON has what a line of text has, and stays one line`() {
    let lines = Mutex<[String]>([])
    var handler = JSONLogHandler(label: "test", now: { timespec(tv_sec: 1_800_000_000, tv_nsec: 7_000_000) }) { line in
        lines.withLock { $0.append(line) }
    }
    handler[metadataKey: "kept"] = "a\"b"
    struct Failure: Error, CustomStringConvertible { let description = "no\nroom" }
    var event = LogEvent(
        level: .error, message: "it \u{1b}\u{2028} failed\\", metadata: ["list": ["x", ["y": "z"]]], source: nil,
        file: "f", function: "g", line: 1)
    event.error = Failure()
    handler.log(event: event)
    let expected =
        #"{"time":"2027-01-15T08:00:00.007Z","level":"error","logger":"test","message":"it \u001b\u2028 failed\\","#
        + #""error":"no\u000aroom","metadata":{"kept":"a\"b","list":["x",{"y":"z"}]}}"# + "\n"
    #expect(lines.withLock { $0 } == [expected])
}
