import AgentEngine
import Foundation
import Logging
import Platform
import PushCore
import Synchronization

/// Serves apps of UnifiedPush on the session bus, as `org.unifiedpush.Distributor.aldaba`.
///
/// The connection to the bus belongs to one thread, which sleeps until the bus or the agent has something for it. A bus that goes is
/// reconnected after growing pauses. Where another program has the name, this one gets it when that ends.
package final class UnifiedPushBus: PushDistributor {
    /// A command of the agent for the thread.
    enum Command: Sendable {
        case start(events: @Sendable (PushDistributorEvent) -> Void)
        case answer(UnifiedPushCall, UnifiedPushFailure?)
        case watch(service: String)
        case unwatch(service: String)
        case sendEndpoint(UnifiedPushRegistration)
        case sendUnregistered(UnifiedPushRegistration, isConfirmation: Bool)
        case deliver(UnifiedPushMessage, UnifiedPushVersion, complete: @Sendable (UnifiedPushOutcome) -> Void)
        case stop
    }

    /// The commands that wait. The agent bounds them: one message and one pause for each of 1,000 registrations at most, and an
    /// answer for each of the calls that the thread holds, whose number is bounded too.
    private let commands = Mutex<[Command]>([])
    /// Whether nothing is reported any more.
    private let isStopped = Mutex(false)
    private let wakeUp: WakeUp

    /// Begins the thread, which connects when it is started.
    ///
    /// - Returns: `nil` when the system has no descriptor left.
    package init?(address: String, logger: Logger) {
        guard let wakeUp = try? WakeUp() else { return nil }  // It fails only without a free descriptor.
        self.wakeUp = wakeUp
        NamedThread.begin("aldaba-unified") { [weak self, wakeUp] in
            let worker = UnifiedPushWorker(address: address, wakeUp: wakeUp, logger: logger) {
                self?.takeCommands() ?? [.stop]
            }
            worker.run()
        }
    }

    deinit { wakeUp.signal() }

    private func takeCommands() -> [Command] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    private func put(_ command: Command) {
        commands.withLock { $0.append(command) }
        wakeUp.signal()
    }

    /// Begins to serve.
    package func start(events: @escaping @Sendable (PushDistributorEvent) -> Void) {
        put(
            .start { [weak self] event in
                if self?.isStopped.withLock({ $0 }) == false { events(event) }
            })
    }

    /// Answers a call; the caller gets nothing where the bus has gone meanwhile.
    package func answer(_ call: UnifiedPushCall, _ failure: UnifiedPushFailure?) { put(.answer(call, failure)) }

    /// Has it reported when a program takes over this bus name.
    package func watch(service: String) { put(.watch(service: service)) }

    /// Ends ``watch(service:)``.
    package func unwatch(service: String) { put(.unwatch(service: service)) }

    /// Calls `NewEndpoint`; the app asks again at its start, so that a call that fails is not repeated.
    package func sendEndpoint(of registration: UnifiedPushRegistration) { put(.sendEndpoint(registration)) }

    /// Calls `Unregistered`.
    package func sendUnregistered(_ registration: UnifiedPushRegistration, isConfirmation: Bool) {
        put(.sendUnregistered(registration, isConfirmation: isConfirmation))
    }

    /// Calls `Message`.
    package func deliver(
        _ message: UnifiedPushMessage, version: UnifiedPushVersion,
        then complete: @escaping @Sendable (UnifiedPushOutcome) -> Void
    ) {
        let report: @Sendable (UnifiedPushOutcome) -> Void = { [weak self] outcome in
            if self?.isStopped.withLock({ $0 }) == false { complete(outcome) }
        }
        put(.deliver(message, version, complete: report))
    }

    /// Ends the thread; nothing is reported from now on.
    package func stop() {
        isStopped.withLock { $0 = true }
        put(.stop)
    }
}
