import Networking
import Testing

@testable import ControlAPI

/// The listener of metrics, which asks for no credential.
@Suite(.timeLimit(.minutes(5))) struct MetricsListenerTests {
    @Test func `of idle connections no more stay than are allowed, and those are served`() async throws {
        let (opened, allowed) = (20, 4)
        let status = ServerStatus(failure: { nil }, version: "1")
        try await withListener(.metrics(PrometheusRegistry(), status), connections: allowed) { listener in
            var exchanges: [RawExchange] = []
            for _ in 0..<opened { exchanges.append(try await RawExchange.begin(port: listener.port)) }
            let ended = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for (number, exchange) in exchanges.enumerated() {
                    group.addTask { (number, try await exchange.answer()) }
                }
                var ended: Set<Int> = []
                for try await (number, answer) in group {
                    // Those that stay are asked once all others have ended.
                    if ended.count < opened - allowed {
                        #expect(answer.isEmpty)
                    } else {
                        #expect(answer.contains(" 200 "))
                    }
                    ended.insert(number)
                    guard ended.count == opened - allowed else { continue }
                    for number in Set(exchanges.indices).subtracting(ended) {
                        try await exchanges[number].write(
                            "GET /health HTTP/1.1\r\nHost: 127.0.0.1:\(listener.port)\r\nConnection: close\r\n\r\n")
                    }
                }
                return ended.count
            }
            #expect(ended == opened)
        }
    }
}
