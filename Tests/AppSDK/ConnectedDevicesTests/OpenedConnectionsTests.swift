import Foundation
import Synchronization
import Testing

@testable import ConnectedDevices

@Suite struct OpenedConnectionsTests {
    private final class Told: Sendable {
        private let all = Mutex<[AppServiceClosedStatus]>([])
        var statuses: [AppServiceClosedStatus] { all.withLock { $0 } }
        func add(_ status: AppServiceClosedStatus) { all.withLock { $0.append(status) } }
    }

    private let connections = OpenedConnections()
    private let info = AppServiceInfo(name: "s", packageId: "com.example.todo")

    @Test("A connection is kept until the app closes it")
    func ownClose() {
        let connection = connections.open(UUID(), info, client: .shared)
        _ = connections.open(UUID(), info, client: .shared)
        #expect(connections.count == 2)
        connection.close()
        connection.close()
        #expect(connections.count == 1)
    }

    @Test("A connection that the other end closes is told so once, and leaves")
    func remoteClose() {
        let id = UUID()
        let told = Told()
        connections.open(id, info, client: .shared).serviceClosed.subscribe { told.add($0) }
        connections.close(id, by: .completed)
        connections.close(id, by: .unknown)
        #expect(connections.count == 0)
        #expect(told.statuses == [.completed])
    }

    @Test("Where the way is lost all of them end")
    func lost() {
        let told = Told()
        for _ in 0..<3 {
            connections.open(UUID(), info, client: .shared).serviceClosed.subscribe { told.add($0) }
        }
        connections.closeAll(by: .unknown)
        #expect(connections.count == 0)
        #expect(told.statuses == [.unknown, .unknown, .unknown])
    }
}
