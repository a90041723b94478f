import AgentProtocol
import AldabaTestSupport
import Foundation
import Networking
import Testing

@testable import aldaba

@Test func `every metric that the code names has its sentence, and no other`() throws {
    let sources = Repository.root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var names: Set<String> = []
    for case let file as URL in files
    where file.pathExtension == "swift" && file.lastPathComponent != "MetricFamilies.swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        names.formUnion(text.matches(of: /"(aldaba_[a-z0-9_]*[a-z])"/).map { String($0.output.1) })
    }
    #expect(names.count > 40)
    let described = Set(MetricFamilies.all.keys.filter { $0.hasPrefix("aldaba_") })
    #expect(names.subtracting(described) == [])
    #expect(described.subtracting(names) == [])
}

@Test func `a scrape tells of the version and the process, each with its help`() async {
    let registry = PrometheusRegistry.ofProgram()
    let text = await registry.scrape(.prometheus)
    #expect(text.contains("aldaba_build_info{version=\""))
    #expect(text.contains("# TYPE process_cpu_seconds_total counter\n"))
    #expect(text.contains("\nprocess_resident_memory_bytes "))
    for line in text.split(separator: "\n") where line.hasPrefix("# TYPE ") {
        let name = line.split(separator: " ")[2]
        #expect(text.contains("# HELP \(name) "), "\(name)")
    }
}

@Test func `a database's files are measured, and those that are not there left out`() async throws {
    let path = NSTemporaryDirectory() + "metrics-\(UUID().uuidString)"
    try Data(count: 4321).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let registry = PrometheusRegistry()
    registry.collect(database: path)
    #expect(await registry.scrape(.prometheus).contains("aldaba_store_bytes{file=\"database\"} 4321\n"))
    #expect(await !registry.scrape(.prometheus).contains("file=\"log\""))
}

@Test func `an agent's apps are told up to a limit`() {
    let apps = ["com.example.a", "com.example.b", "com.example.c"].map {
        AgentStatus.App(
            id: BundleID(rawValue: $0), name: $0, isConnected: true, authorization: 2, listed: 4, badge: 1,
            extensions: [.init(version: "1.0", outcomes: ["changed": 3, "crashed": 1])])
    }
    let status = AgentStatus(process: 1, device: nil, isConnected: true, hasScreen: false, apps: apps)
    let samples = AgentMonitor.samples(status, appLimit: 2)
    let value = { (name: String) in samples.filter { $0.name == "aldaba_agent_\(name)" }.map(\.value) }
    #expect(value("connected") == [1] && value("has_screen") == [0])
    #expect(value("apps") == [3] && value("apps_connected") == [3])
    #expect(value("listed") == [4, 4])
    #expect(value("extensions_total") == [3, 1, 3, 1])
}
