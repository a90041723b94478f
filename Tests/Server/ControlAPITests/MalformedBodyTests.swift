import Foundation
import Testing

@testable import ControlAPI

/// What a client does wrong is its own affair: it is told, and the log stays quiet.
@Suite(.timeLimit(.minutes(5))) struct MalformedBodyTests {
    private func head(_ port: Int, _ path: String, _ field: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n\(field)\r\n\r\n"
    }

    @Test(
        arguments: ["/checkin", "/c2dm/register3"],
        [
            "zz\r\n", "-1\r\n\r\n", "3\r\nabcdef\r\n", "FFFFFFFFFFFFFFFFF\r\n", "1;x\r\na\r\ng\r\n", "\r\n\r\n",
        ])
    func `a malformed chunked body is 400, and no error of ours`(path: String, body: String) async throws {
        let log = RecordingLog()
        try await withListener(.development(FakeServer().services(.open)), logger: log.logger) { listener in
            let answer = try await RawExchange.answer(
                to: head(listener.port, path, "Transfer-Encoding: chunked") + body, port: listener.port)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "one answer and no more: \(answer)")
            #expect(log.messages(from: .warning).isEmpty)
        }
    }

    @Test(arguments: [
        "GET /iid/info/a b HTTP/1.1\r\n", "FOO /health HTTP/1.1\r\n", "GET /health HTTP/1.1\r\nX-A: a\u{0}b\r\n",
    ])
    func `a request that is no HTTP is told why`(beginning: String) async throws {
        try await withListener(.development(FakeServer().services(.open)), logger: RecordingLog().logger) { listener in
            let answer = try await RawExchange.answer(
                to: beginning + "Host: 127.0.0.1:\(listener.port)\r\n\r\n", port: listener.port)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.contains("the request cannot be read as HTTP/1.1 ("), "\(answer)")
        }
    }

    @Test(arguments: ["Content-Length: 10", "Transfer-Encoding: chunked"])
    func `a client that goes in the middle of its body is no error of ours`(field: String) async throws {
        let log = RecordingLog()
        try await withListener(.development(FakeServer().services(.open)), logger: log.logger) { listener in
            let exchange = try await RawExchange.begin(port: listener.port)
            try await exchange.write(head(listener.port, "/checkin", field) + "1\r\n{")
            try await exchange.close()
            // The listener still answers.
            #expect(try await listener.send("GET", "/health").status == 200)
        }
        // The listener has ended, and every connection with it.
        #expect(log.messages(from: .warning).filter { !$0.contains("Waiting on child channel") }.isEmpty)
    }
}
