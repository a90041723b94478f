import AgentEngine
import AldabaTestSupport
import PushCore
import Synchronization

/// A session bus of the test's: the test plays the apps, and reads what they are told.
final class FakeDistributor: PushDistributor {
    /// What apps were told, in order: `answer 1 NETWORK`, `endpoint t https://…`, `unregistered t`, `message 5 to t`.
    let told = Inbox<String>()
    /// The outcomes of the next deliveries; an app takes what comes after them.
    let outcomes = Mutex<[UnifiedPushOutcome]>([])
    private let events = Mutex<(@Sendable (PushDistributorEvent) -> Void)?>(nil)
    private let calls = Atomic<UInt64>(0)

    /// An app calls `Register`.
    ///
    /// - Returns: The number of the call.
    @discardableResult func register(
        _ token: String, service: String = "com.example.App", vapid: String? = nil
    ) throws -> UInt64 {
        let number = calls.add(1, ordering: .relaxed).newValue
        let asked = try UnifiedPushRegister(
            service: service, token: token, description: nil, vapid: vapid, version: .two)
        events.withLock { $0 }?(.register(asked, UnifiedPushCall(number: number, version: .two)))
        return number
    }

    /// An app calls `Unregister`.
    func unregister(_ token: String) { events.withLock { $0 }?(.unregister(token: token)) }

    func start(events: @escaping @Sendable (PushDistributorEvent) -> Void) {
        self.events.withLock { $0 = events }
        told.put("started")
    }

    func answer(_ call: UnifiedPushCall, _ failure: UnifiedPushFailure?) {
        told.put("answer \(call.number) \(failure?.rawValue ?? "succeeded")")
    }

    func watch(service: String) {}
    func unwatch(service: String) {}

    func sendEndpoint(of registration: UnifiedPushRegistration) {
        told.put("endpoint \(registration.token) \(registration.endpoint ?? "none")")
    }

    func sendUnregistered(_ registration: UnifiedPushRegistration, isConfirmation: Bool) {
        told.put("unregistered \(registration.token)")
    }

    func deliver(
        _ message: UnifiedPushMessage, version: UnifiedPushVersion,
        then complete: @escaping @Sendable (UnifiedPushOutcome) -> Void
    ) {
        told.put("message \(message.id.rawValue) to \(message.token)")
        complete(outcomes.withLock { $0.isEmpty ? .taken : $0.removeFirst() })
    }

    func stop() { told.put("stopped") }
}
