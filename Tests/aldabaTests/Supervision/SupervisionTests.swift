import AldabaConfiguration
import AldabaTestSupport
import Foundation
import Logging
import Synchronization
import Testing

@testable import aldaba

@Test func `the fifth death within ten seconds ends the attempts`() {
    var policy = RestartPolicy()
    let start = ContinuousClock.now
    let verdicts = (0..<5).map { policy.recordExit(at: start.advanced(by: .seconds($0))) }
    #expect(verdicts == [true, true, true, true, false])
}

@Test func `deaths that lie apart never end the attempts`() {
    var policy = RestartPolicy()
    let start = ContinuousClock.now
    let verdicts = (0..<20).map { policy.recordExit(at: start.advanced(by: .milliseconds(2500 * $0))) }
    #expect(verdicts.allSatisfy { $0 })
}

private func shell(_ script: String, _ folder: TemporaryFolder) throws -> ChildProcess.Plan {
    ChildProcess.Plan(
        executable: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"],
        log: try BoundedLogFile(path: folder.path("log")))
}

@Test func `a child's end is told, its lines in order, and the rest is in its log`() async throws {
    let folder = try TemporaryFolder()
    let lines = Mutex<[String]>([])
    let second = Readiness<Bool>()
    var plan = try shell("echo one; echo two; echo wrong >&2; exit 3", folder)
    plan.line = { line in
        lines.withLock { $0.append(line) }
        if line == "two" { second.settle(.success(true)) }
    }
    let child = try ChildProcess(plan)
    #expect(await child.end() == .exited(3))
    #expect(try await second.value())
    #expect(lines.withLock { $0 } == ["one", "two"])
}

@Test func `a child's standard input stays open after its end, for what it leaves behind`() async throws {
    let folder = try TemporaryFolder()
    var pipes: [String] = []
    for _ in 0..<2 {
        let input = Readiness<String>()
        var plan = try shell("readlink /proc/$$/fd/0", folder)
        plan.line = { input.settle(.success($0)) }
        _ = await (try ChildProcess(plan)).end()
        pipes.append(try await input.value())
    }
    #expect(pipes[0].hasPrefix("pipe:"))
    #expect(pipes[0] == pipes[1])
}

@Test func `a child that ignores the request to end is ended after the grace`() async throws {
    let folder = try TemporaryFolder()
    let ready = Readiness<Bool>()
    var plan = try shell("trap '' TERM; echo ready; while :; do sleep 60; done", folder)
    plan.line = { _ in ready.settle(.success(true)) }
    let child = try ChildProcess(plan)
    #expect(try await ready.value())
    await child.stop(grace: .milliseconds(50))
    #expect(await child.end() == .signalled(SIGKILL))
}

@Test func `a supervisor starts a child again until it is given up, and then says what its log says`() async throws {
    let folder = try TemporaryFolder()
    let supervisor = try Supervisor(
        names: ["child"], processFile: folder.path("pids.json"), logger: Logger(label: "test"))
    let starts = Mutex(0)
    let told = Mutex(0)
    let child = Supervisor.Child(name: "child") {
        starts.withLock { $0 += 1 }
        return try shell("exit 7", folder)
    } started: { _ in
        told.withLock { $0 += 1 }
    }
    // However slow the machine is, the deaths fall into the window.
    await #expect(throws: Supervisor.GivenUp.self) {
        try await supervisor.keep(child, policy: RestartPolicy(window: .seconds(3600)))
    }
    #expect(starts.withLock { $0 } == 5)
    #expect(told.withLock { $0 } == 5)
    #expect(try PrivateFile.text(folder.path("pids.json")) == "{\"child\":null}\n")
}

@Test func `cancelling a supervisor ends its child first`() async throws {
    let folder = try TemporaryFolder()
    let supervisor = try Supervisor(
        names: ["child"], processFile: folder.path("pids.json"), logger: Logger(label: "test"))
    let ready = Readiness<Int32>()
    let child = Supervisor.Child(name: "child") {
        var plan = try shell("echo $$; exec sleep 60", folder)
        plan.line = { line in ready.settle(.success(Int32(line) ?? 0)) }
        return plan
    }
    let keeping = Task { try await supervisor.keep(child) }
    let process = try await ready.value()
    #expect(await supervisor.running == ["child": process])
    keeping.cancel()
    try await keeping.value
    #expect(kill(process, 0) == -1)
    #expect(await supervisor.running.isEmpty)
}

@Test func `a log file is bounded and keeps one predecessor`() throws {
    let folder = try TemporaryFolder()
    let log = try BoundedLogFile(path: folder.path("log"), limit: 100)
    for _ in 0..<50 { log.append(Array("0123456789\n".utf8)) }
    let sizes = try ["log", "log.1"].map { try Data(contentsOf: URL(fileURLWithPath: folder.path($0))).count }
    #expect(sizes.allSatisfy { $0 <= 100 })
    #expect(log.lastLines(2) == ["0123456789", "0123456789"])
}

@Test func `lines are cut right however the bytes arrive`() {
    let text = Array("one\ntwo\nthree".utf8)
    for cut in 0...text.count {
        var splitter = LineSplitter()
        #expect(splitter.append(text[..<cut]) + splitter.append(text[cut...]) == ["one", "two"])
    }
}

@Test func `reports of the agent survive their line`() throws {
    for report in [
        AgentReport.listening(socket: "/a/b", hasScreen: true), .listening(socket: "/a/b", hasScreen: false),
        .registered(app: "com.example", token: "ab"), .connected(app: "com.example"),
        .reported(notification: "7", app: "com.example", title: "Milk", states: ["presented (kept)", "handed"]),
        .reported(notification: "7", app: nil, title: "", states: ["expired"]),
    ] {
        #expect(AgentReport(line: try report.line()) == report)
    }
    #expect(AgentReport(line: "{}") == nil)
}

@Test(arguments: [
    (
        AgentReport.reported(
            notification: "7", app: "com.example", title: "Milk\u{1B}[2J\nand bread",
            states: ["presented (kept)", "handed"]),
        "7  com.example  Milk"
    ),
    (.reported(notification: "7", app: nil, title: "", states: ["expired"]), "7: expired"),
])
func `a notification's states are one line`(report: AgentReport, beginning: String) throws {
    let line = try #require(report.notificationLine)
    #expect(line.hasPrefix(beginning))
    #expect(!line.contains("\n") && !line.contains("\u{1B}"))
}

@Test func `states on the way, and other reports, have no line`() {
    let extended = AgentReport.reported(notification: "7", app: "a.b", title: "", states: ["extended(changed, 3 ms)"])
    #expect(extended.notificationLine == nil)
    #expect(AgentReport.connected(app: "a.b").notificationLine == nil)
}
