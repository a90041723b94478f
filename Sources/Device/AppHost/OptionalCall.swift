import Synchronization

/// One call of a method that apps need not write, and whether this app wrote it.
///
/// In Apple's protocols such a method is absent; here its default is called, which notes that it was reached before
/// it answers. So who gets the answer knows which of the two gave it. The call is found by the task-local
/// ``current``, which tasks that begin within it inherit.
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

    /// Says, from a default, that the app did not write the method.
    package static func noteDefault() { current?.reachedDefault.store(true, ordering: .releasing) }
}
