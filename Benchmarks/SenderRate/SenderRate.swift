import AldabaAPNs
import CoreMetrics
import Foundation
import NIOPosix
import Networking
import Synchronization

/// Sends one payload to the tokens of a file, again and again, and prints a JSON object of what came of it:
/// `SenderRate --port PORT --authorities FILE --key FILE --tokens FILE --payload FILE --count 200000`.
///
/// So many tasks as `--concurrency` says send one notification after another: no task is made for a notification.
@main
enum SenderRate {
    static func main() async throws {
        let options: Options
        do { options = try Options(CommandLine.arguments.dropFirst()) } catch {
            print("SenderRate: \(error)")
            exit(2)
        }
        let registry = PrometheusRegistry()
        // Only then: a program without metrics has none of their cost.
        if options.reportsOpen { MetricsSystem.bootstrap(registry) }
        let client = try options.client()
        let sending = try Sending(options, client)
        _ = await sending.run(options.warmUp, samplesMemory: false)
        let observer = options.reportsOpen ? Task { await mostOpen(registry) } : nil
        let begun = ContinuousClock.now
        let used = processorTime()
        let tally = await sending.run(options.count, samplesMemory: options.reportsMemory)
        let seconds = begun.duration(to: .now) / .seconds(1)
        let now = processorTime()
        observer?.cancel()
        var report: [String: Any] = [
            "seconds": seconds, "accepted": tally.accepted, "refused": tally.refused, "failed": tally.failed,
            "doubtful": tally.doubtful, "user": now.user - used.user, "system": now.system - used.system,
        ]
        if options.reportsMemory { report["memory"] = sending.memory }
        if let observer { report["mostOpen"] = await observer.value }
        // The peer of some runs answers nothing.
        await client.shutDown(grace: .milliseconds(100))
        let line = try JSONSerialization.data(withJSONObject: report, options: [.sortedKeys])
        print(String(decoding: line, as: UTF8.self))
    }

    /// The greatest number of requests that were queued or in flight, looked at every ten milliseconds.
    private static func mostOpen(_ registry: PrometheusRegistry) async -> Int {
        var most = 0.0
        while !Task.isCancelled {
            let open = registry.samples().filter { $0.name == "aldaba_apns_client_requests" }
            most = max(most, open.reduce(0) { $0 + $1.value })
            try? await Task.sleep(for: .milliseconds(10))
        }
        return Int(most)
    }
}

/// The processor time of this process in seconds.
private func processorTime() -> (user: Double, system: Double) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

/// The results of the notifications that some tasks sent.
private struct Tally: Sendable {
    var accepted = 0
    /// The numbers of the refusals, by their reasons.
    var refused: [String: Int] = [:]
    /// The numbers of the errors, by their causes.
    var failed: [String: Int] = [:]
    /// The number of errors whose notification may have been processed.
    var doubtful = 0

    mutating func add(_ other: Tally) {
        accepted += other.accepted
        refused.merge(other.refused, uniquingKeysWith: +)
        failed.merge(other.failed, uniquingKeysWith: +)
        doubtful += other.doubtful
    }

    mutating func refuse(_ reason: APNsRefusalReason) { refused[reason.rawValue, default: 0] += 1 }
}

/// A client with what it sends.
private final class Sending: Sendable {
    private let client: APNsClient
    private let notification: APNsNotification
    private let tokens: [String]
    private let concurrency: Int
    private let next = Atomic(0)
    private let samples = Mutex<[[String: Int]]>([])

    init(_ options: Options, _ client: APNsClient) throws {
        self.client = client
        concurrency = options.concurrency
        tokens = try options.tokens()
        var notification = APNsNotification(
            pushType: .alert, bundleID: try options.value("topic"), payload: try options.payload())
        notification.expiration = .once
        self.notification = notification
    }

    /// The memory when a tenth, a half and all of the notifications were begun.
    var memory: [[String: Int]] { samples.withLock { $0 } }

    /// Sends so many notifications, and waits for all results.
    func run(_ count: Int, samplesMemory: Bool) async -> Tally {
        guard count > 0 else { return Tally() }
        next.store(0, ordering: .relaxed)
        let marks = samplesMemory ? [count / 10, count / 2, count - 1] : []
        return await withTaskGroup(of: Tally.self) { group in
            for _ in 0..<concurrency { group.addTask { await self.work(count, marks) } }
            return await group.reduce(into: Tally()) { $0.add($1) }
        }
    }

    private func work(_ count: Int, _ marks: [Int]) async -> Tally {
        var tally = Tally()
        while true {
            let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard number < count else { return tally }
            if marks.contains(number) { sample(number + 1) }
            do {
                switch try await client.send(notification, to: tokens[number % tokens.count]) {
                case .accepted: tally.accepted += 1
                case .tokenDead: tally.refused["tokenDead", default: 0] += 1
                case .retryAfter(_, let reason), .fixConfiguration(let reason), .dropped(let reason):
                    tally.refuse(reason)
                }
            } catch {
                tally.failed[error.cause.rawValue, default: 0] += 1
                if error.mayHaveBeenProcessed { tally.doubtful += 1 }
            }
        }
    }

    private func sample(_ number: Int) {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func kibibytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        }
        let sample = ["sent": number, "rssKiB": kibibytes("VmRSS"), "anonymousKiB": kibibytes("RssAnon")]
        samples.withLock { $0.append(sample) }
    }
}

/// The options of the command line.
private struct Options {
    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private static let flags: Set = ["report-memory", "report-open"]
    private var values: [String: String] = [
        "host": "127.0.0.1", "key-id": "ABC123DEFG", "team": "DEF123GHIJ", "topic": "com.example.todo",
    ]

    init(_ arguments: some Sequence<String>) throws {
        var name: String?
        for argument in arguments {
            if let option = name {
                values[option] = argument
                name = nil
                continue
            }
            guard argument.hasPrefix("--") else { throw Fault(description: "\(argument) is no option") }
            let option = String(argument.dropFirst(2))
            if Self.flags.contains(option) { values[option] = "" } else { name = option }
        }
        if let name { throw Fault(description: "--\(name) has no value") }
        for needed in ["port", "authorities", "key", "tokens", "payload", "count"] { _ = try value(needed) }
    }

    func value(_ name: String) throws -> String {
        guard let value = values[name] else { throw Fault(description: "give --\(name)") }
        return value
    }

    private func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }
    private func text(_ name: String) throws -> String { try String(contentsOfFile: value(name), encoding: .utf8) }

    var count: Int { number("count") ?? 0 }
    var warmUp: Int { number("warm-up") ?? 0 }
    var concurrency: Int { max(1, number("concurrency") ?? 2000) }
    var reportsMemory: Bool { values["report-memory"] != nil }
    var reportsOpen: Bool { values["report-open"] != nil }

    func tokens() throws -> [String] {
        let tokens = try text("tokens").split(separator: "\n").map(String.init)
        guard !tokens.isEmpty else { throw Fault(description: "--tokens has none") }
        return tokens
    }

    func payload() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: value("payload")))) }

    func client() throws -> APNsClient {
        guard let port = number("port") else { throw Fault(description: "--port is no number") }
        var options = APNsOptions()
        if let count = number("connections") { options.maximumConnections = count }
        if let count = number("open") { options.maximumOpenRequests = count }
        if let seconds = values["deadline"].flatMap(Double.init) { options.deadline = .seconds(seconds) }
        if let count = number("event-loops") {
            options.eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: count)
        }
        let server = APNsServer(host: try value("host"), port: port, authorities: try text("authorities"))
        let credential = try APNsCredential.key(
            pem: text("key"), keyID: value("key-id"), teamID: value("team"))
        return try APNsClient(credential: credential, server: server, options: options)
    }
}
