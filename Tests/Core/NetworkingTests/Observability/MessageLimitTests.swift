import Logging
import Networking
import Synchronization
import Testing

/// Messages that come many times a second.
@Suite struct MessageLimitTests {
    @Test func `of a thousand messages in three seconds three lines are written, which count them all`() {
        var limit = MessageLimit(milliseconds: 1000)
        let counts = (0..<1000).compactMap { limit.count(at: Int64($0) * 3) }
        #expect(counts == [1, 334, 334])
        #expect(limit.count(at: 9999) == 332, "those after the last line are in the next")
    }

    @Test func `a message is counted by what it adds`() {
        var limit = MessageLimit(milliseconds: 10)
        #expect(limit.count(5, at: 0) == 5)
        #expect(limit.count(7, at: 9) == nil)
        #expect(limit.count(1, at: 10) == 8)
    }

    @Test func `a failure that comes with each request is written once a second`() {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in lines }
        let uptime = Atomic<Int64>(0)
        let message = RepeatedMessage("a request failed") { uptime.load(ordering: .relaxed) }
        for _ in 0..<300 { message.log(Full(), to: logger) }
        #expect(lines.written.withLock { $0 } == ["error a request failed [aldaba.error: full]"])
        uptime.store(1000, ordering: .relaxed)
        message.log(Full(), to: logger)
        #expect(lines.written.withLock { $0.last } == "error a request failed [aldaba.count: 300, aldaba.error: full]")
    }

    private struct Full: Error, CustomStringConvertible { let description = "full" }

    private final class Lines: LogHandler, Sendable {
        let written = Mutex<[String]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }
        subscript(metadataKey _: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", ")
            written.withLock { $0.append("\(event.level) \(event.message) [\(metadata)]") }
        }
    }
}
