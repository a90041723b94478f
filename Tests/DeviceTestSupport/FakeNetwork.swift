import AgentRuntime
import Synchronization

/// A network that comes back when the test says so.
package final class FakeNetwork: NetworkSource {
    private let returned = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    package func start(returned: @escaping @Sendable () -> Void) { self.returned.withLock { $0 = returned } }
    package func stop() {}
    package func comesBack() { returned.withLock { $0 }?() }
}
