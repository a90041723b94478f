import NIOPosix
import Testing

@testable import AldabaAPNs

@Suite(.timeLimit(.minutes(1))) struct AdmissionGateTests {
    private let gate = AdmissionGate(
        limit: 1, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), now: { .now })

    @Test func `a caller that is not admitted in time fails`() async {
        guard case .admitted(1) = await gate.enter(until: .now + .seconds(60)) else {
            Issue.record("not admitted")
            return
        }
        guard case .failed(.deadline) = await gate.enter(until: .now + .milliseconds(20)) else {
            Issue.record("not failed")
            return
        }
        gate.leave()
        guard case .admitted(3) = await gate.enter(until: .now + .seconds(60)) else {
            Issue.record("not admitted")
            return
        }
    }

    @Test func `a task that is cancelled before it asks does not wait`() async {
        _ = await gate.enter(until: .now + .seconds(60))
        let task = Task {
            await gate.enter(until: .now + .seconds(60))
        }
        task.cancel()
        guard case .failed(.cancelled) = await task.value else {
            Issue.record("not cancelled")
            return
        }
    }

    @Test func `a closed gate ends those that wait`() async {
        _ = await gate.enter(until: .now + .seconds(60))
        let task = Task { await gate.enter(until: .now + .seconds(60)) }
        gate.close()
        guard case .failed(.shutDown) = await task.value else {
            Issue.record("not ended")
            return
        }
    }
}
