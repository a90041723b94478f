import AgentEngine
import AgentProtocol
import AldabaTestSupport
import Foundation
import Platform
import Synchronization

@testable import AgentRuntime

/// A launcher of service extensions whose processes are this one: who connects from here is what it started.
final class FakeExtensions: ExtensionLauncher {
    let started = Inbox<(app: BundleID, variables: [String: String])>()
    /// How many were started.
    let starts = Mutex(0)
    let killed = Inbox<Void>()
    let cleared = Inbox<Void>()
    let failure = Mutex<MachineError?>(nil)
    private let events = Mutex<(@Sendable (WatchedProgram.Event) -> Void)?>(nil)

    /// Something becomes of the process that was started last.
    func happens(_ event: WatchedProgram.Event) { events.withLock { $0 }?(event) }

    func start(
        of app: AppManifest, variables: [String: String], events: @escaping @Sendable (WatchedProgram.Event) -> Void
    ) throws(MachineError) -> any RunningExtension {
        self.events.withLock { $0 = events }
        starts.withLock { $0 += 1 }
        started.put((app.id, variables))
        if let failure = failure.withLock({ $0 }) { throw failure }
        return Running(extensions: self)
    }

    func clear() {}

    private struct Running: RunningExtension {
        let extensions: FakeExtensions
        var process: Int32 { getpid() }
        func kill() {
            extensions.killed.put(())
            extensions.happens(.ended(.signalled(SIGKILL)))
        }
        func clear() { extensions.cleared.put(()) }
    }
}
