import AldabaTestSupport
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Networking
import PushCore
import Synchronization
import Testing

@testable import PushServer

private let anyTeam = TeamID(rawValue: "AAAAAAAAAA")

/// Callers of a listener whose connections prove nothing by themselves.
private func callers() -> ConnectionCredentials {
    ConnectionCredentials(
        limiter: ConnectionLimiter(
            listener: "test", .init(limits: .init(total: 8, perAddress: 8, unproven: 8)), logger: Logger(label: "test"))
    )
}

@Test func `a request without a credential is counted for nobody, and its connection stays unproven`() async {
    let callers = callers()
    let connection = EmbeddedChannel()
    let scope = RequestScope(callers, connection: connection)
    #expect(scope.caller == .unauthenticated)
    callers.served(connection)
    #expect(callers.count == 0)
    #expect(RequestScope(callers, connection: connection).caller == .unauthenticated)
}

@Test func `a connection is known by its credential until it closes`() async throws {
    let callers = callers()
    let connection = EmbeddedChannel()
    let scope = RequestScope(callers, connection: connection)
    try await RequestScope.$current.withValue(scope) { try await RequestScope.prove(.team(anyTeam)) }
    #expect(scope.caller == .team(anyTeam))
    #expect(RequestScope(callers, connection: connection).caller == .team(anyTeam))
    #expect(callers.count == 1)
    _ = try connection.finish()
    #expect(callers.count == 0)
}

@Test func `of many requests without a credential one is worked at, and a caller with one does not wait for it`() async
{
    let workers = FairWorkers(cores: 2)
    let gate = DispatchSemaphore(value: 0)
    let (begun, begin) = AsyncStream<Int>.makeStream()
    let running = Running()
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<32 {
            group.addTask(executorPreference: CallerExecutor(.unauthenticated, workers: workers)) {
                running.begin()
                begin.yield(0)
                block(until: gate)
                running.end()
            }
        }
        var first = begun.makeAsyncIterator()
        _ = await first.next()
        // One of the 32 occupies its thread, and cannot end before the gate opens.
        await Task(executorPreference: CallerExecutor(.team(anyTeam), workers: workers)) {}.value
        for _ in 0..<32 { gate.signal() }
    }
    #expect(running.most == 1)
}

/// The number of tasks that run at once.
private final class Running: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func begin() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }

    func end() { counts.withLock { $0.now -= 1 } }
}

/// Occupies the thread, as long work does.
private func block(until gate: DispatchSemaphore) { gate.wait() }
