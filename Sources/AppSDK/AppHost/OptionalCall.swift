import Synchronization

/// A call of an optional method, and whether the app has written that method.
///
/// In Apple's protocols such a method may be absent. Here it is a requirement with a default, and the default notes
/// that it was reached before it answers. So the receiver of the answer knows whether the app or the default gave it.
/// The call is found by the task-local ``current``, which tasks that begin within it inherit.
package final class OptionalCall: Sendable {
    /// The call that is being made.
    @TaskLocal package static var current: OptionalCall?

    private let reachedDefault = Atomic(false)

    /// Makes a call.
    @MainActor
    package static func make(_ body: (OptionalCall) -> Void) {
        let call = OptionalCall()
        $current.withValue(call) { body(call) }
    }

    /// Whether the answer that is given now is the app's.
    package var isImplemented: Bool { !reachedDefault.load(ordering: .acquiring) }

    /// Notes, in a default, that the app did not write the method.
    package static func noteDefault() { current?.reachedDefault.store(true, ordering: .releasing) }
}
