import Logging
import ServiceLifecycle
import Testing

@testable import ControlAPI

/// How a listener ends when it is asked to stop.
@Suite(.timeLimit(.minutes(5))) struct ControlShutdownTests {
    /// Runs a listener in a group of its own, which the test asks to stop; returns when the listener has ended.
    private func withService(
        grace: Duration, _ body: (Int, _ stop: @escaping @Sendable () async -> Void) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let listener = ControlListener(
            .development(FakeServer().services(.open)), port: 0, grace: grace, logger: logger
        ) { continuation.yield($0) }
        let service = ServiceGroup(services: [listener], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            for await port in ports {
                try await body(port) { await service.triggerGracefulShutdown() }
                break
            }
            try await group.waitForAll()
        }
    }

    /// A whole request and half of another, in one piece: when the first is answered, both were read.
    private func oneAndAHalf(_ port: Int) -> String {
        "GET /health HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
            + "POST /checkin HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
            + "Content-Length: 2\r\n\r\n{"
    }

    @Test func `a request that is open when the listener stops is answered`() async throws {
        try await withService(grace: .seconds(50)) { port, stop in
            let idle = try await RawExchange.begin(port: port)
            try await idle.write("GET /health HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            try await idle.answerBegins()
            let open = try await RawExchange.begin(port: port)
            try await open.write(oneAndAHalf(port))
            try await open.answerBegins()
            await stop()
            // The idle connection ends at once, which tells that the listener is stopping.
            #expect(try await idle.answer().hasPrefix("HTTP/1.1 200 OK"))
            try await open.write("}")
            #expect(try await open.answer().contains("\"android_id\":77"))
        }
    }

    @Test func `a request that never ends is cut off after the grace`() async throws {
        try await withService(grace: .milliseconds(50)) { port, stop in
            let open = try await RawExchange.begin(port: port)
            try await open.write(oneAndAHalf(port))
            try await open.answerBegins()
            await stop()
            #expect(try await open.answer().contains("\"android_id\"") == false)
        }
    }
}
