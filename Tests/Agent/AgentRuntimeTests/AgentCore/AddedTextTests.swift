import AgentEngine
import AgentProtocol
import AldabaTestSupport
import Foundation
import GRDB
import PushCore
import Testing

@testable import AgentRuntime

/// What an app adds is written by the app and nobody else: the store has the app's own bytes.
@Suite(.timeLimit(.minutes(5)))
struct AddedTextTests {
    /// As no encoder here would write it.
    private static let content = #"{ "title" : "Milk\u0021", "body":"Two \/ litres","later":[1, {"a":"}"}] }"#
    private static let trigger = #"{"seconds": 9.0e1, "type":"timeInterval"}"#

    private func add(_ notification: String, _ app: TestApp) async {
        let body = Array(
            #"{"type":"center", "request":1, "command":"add", "notification":\#(notification)}"#.utf8)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (24 - 8 * $0)) }
        app.send(bytes: length + body)
        let answer = await app.inbox.next { if case .centerAnswered = $0 { true } else { false } }
        #expect(answer == .centerAnswered(request: 1, .done))
    }

    private func texts(_ columns: String, of table: String, _ harness: AgentHarness) async throws -> [[String?]] {
        let store = try #require(await harness.agent.withLock { $0 }?.store)
        return try store.read { reader in
            try Row.fetchAll(reader.database, sql: "SELECT \(columns) FROM \(table)").map { row in
                row.databaseValues.map { String.fromDatabaseValue($0) }
            }
        }
    }

    @Test func `what appears at once is stored as the app wrote it`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        await add(#"{"content":\#(Self.content),"identifier":"milk"}"#, app)
        #expect(try await texts("content, trigger", of: "notification", harness) == [[Self.content, nil]])
        let message = await app.inbox.next { if case .deliver = $0 { true } else { false } }
        guard case .deliver(let delivered, _)? = message else { return }
        #expect(delivered.content?.title == "Milk!" && delivered.content?.body == "Two / litres")
        try await harness.stop()
    }

    @Test func `what waits for its time is stored as the app wrote it, also when it has come`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let request = #"{"trigger":\#(Self.trigger) ,"content": \#(Self.content),"identifier":"milk"}"#
        await add(request, app)
        #expect(try await texts("request", of: "pending", harness) == [[request]])
        harness.clock.pass(90)
        _ = await app.inbox.next { if case .deliver = $0 { true } else { false } }
        #expect(try await texts("content, trigger", of: "notification", harness) == [[Self.content, Self.trigger]])
        try await harness.stop()
    }

    @Test func `a request that says more than it may, in what nobody reads, is refused`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let more = String(repeating: "x", count: RequestRules.longestRequest)
        let body = Array(
            #"{"type":"center","request":1,"command":"add","notification":{"identifier":"a","content":{"title":"x"},"new":"\#(more)"}}"#
                .utf8)
        app.send(bytes: (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (24 - 8 * $0)) } + body)
        let answer = await app.inbox.next { if case .centerAnswered = $0 { true } else { false } }
        guard case .centerAnswered(1, .failed(_, let message))? = answer else {
            Issue.record("not refused")
            return
        }
        #expect(message == "it says more than \(RequestRules.longestRequest) bytes")
        try await harness.stop()
    }
}
