import PushCore
import Synchronization
import Testing

@testable import PushServer

@Suite struct FaultTests {
    private func content(path: String = "/3/device/ab", connection: Int = 1) -> ReceivedRequest.Content {
        ReceivedRequest.Content(
            interface: .apns, connection: connection, method: "POST", path: path, fields: [], body: [])
    }

    private func parties(token: String = "ab", namespace: String = "A") -> ReceivedRequest.Parties {
        var parties = ReceivedRequest.Parties()
        parties.token = token
        parties.namespace = namespace
        return parties
    }

    private func plan(_ change: (inout Fault) -> Void) -> FaultPlan {
        let plan = FaultPlan()
        var fault = Fault()
        change(&fault)
        _ = plan.add(fault)
        return plan
    }

    @Test func `a fault is used as often as it says, after those that it skips`() {
        let plan = plan {
            $0.pace.times = 2
            $0.pace.skip = 1
        }
        let uses = (1...5).map { _ in plan.fault(for: content(), parties()) != nil }
        #expect(uses == [false, true, true, false, false])
        #expect(plan.all.first?.used == 2)
    }

    @Test func `zero times is for ever`() {
        let plan = plan { $0.pace.times = 0 }
        #expect((1...50).allSatisfy { _ in plan.fault(for: content(), parties()) != nil })
    }

    @Test func `a rate chooses the same requests for the same seed`() {
        func uses(_ seed: UInt64) -> [Bool] {
            let plan = plan {
                $0.pace.times = 0
                $0.pace.rate = 0.3
                $0.pace.seed = seed
            }
            return (1...200).map { _ in plan.fault(for: content(), parties()) != nil }
        }
        #expect(uses(7) == uses(7))
        #expect(uses(7) != uses(8))
        #expect((40...80).contains(uses(7).count { $0 }))
    }

    @Test func `only requests of the selection count`() {
        let plan = plan {
            $0.selection.token = "ab"
            $0.selection.namespace = "A"
            $0.selection.path = "/3/"
            $0.selection.connection = 4
            $0.selection.interface = .apns
        }
        #expect(plan.fault(for: content(connection: 4), parties(token: "cd")) == nil)
        #expect(plan.fault(for: content(connection: 4), parties(namespace: "B")) == nil)
        #expect(plan.fault(for: content(connection: 3), parties()) == nil)
        #expect(plan.fault(for: content(path: "/4/", connection: 4), parties()) == nil)
        #expect(plan.all.first?.matched == 0)
        #expect(plan.fault(for: content(connection: 4), parties()) != nil)
    }

    @Test func `the first fault that fits is used, then the next`() {
        let plan = FaultPlan()
        for status in [429, 503] {
            var fault = Fault()
            fault.reply = Fault.Reply(status: status, reason: nil, retryAfter: nil)
            _ = plan.add(fault)
        }
        let statuses = (1...3).map { _ in plan.fault(for: content(), parties())?.reply?.status }
        #expect(statuses == [429, 503, nil])
    }

    @Test func `an expired certificate is for connections alone`() {
        let plan = plan { $0.action = .expiredCertificate }
        #expect(plan.fault(for: content(), parties()) == nil)
        #expect(plan.takeExpiredCertificate())
        #expect(!plan.takeExpiredCertificate())
    }

    @Test func `faults are bounded, and removed one by one or by namespace`() {
        let plan = FaultPlan()
        var fault = Fault()
        fault.selection.namespace = "A"
        for _ in 1...FaultPlan.limit { #expect(plan.add(fault) != nil) }
        #expect(plan.add(fault) == nil)
        #expect(plan.remove(3))
        #expect(!plan.remove(3))
        #expect(plan.removeAll(namespace: "B") == 0)
        #expect(plan.removeAll(namespace: "A") == FaultPlan.limit - 1)
    }
}

@Suite struct TestClockTests {
    @Test func `an advance moves the server's time, and what was written before it ages`() throws {
        let machine = Atomic<Int64>(100_000_000)
        let clock = TestClock { Timestamp(rawValue: machine.load(ordering: .relaxed)) }
        let before = clock.machineTime
        let calls = Atomic<Int>(0)
        clock.follow { calls.add(1, ordering: .relaxed) }
        machine.store(100_005_000, ordering: .relaxed)
        try clock.advance(by: .seconds(7200))
        #expect(clock.now.duration(since: before) == .seconds(7205))
        #expect(clock.advanced == .seconds(7200))
        #expect(calls.load(ordering: .relaxed) == 1)
        // What was written before the advance is two hours old; what is written now is new.
        #expect(clock.now.duration(since: clock.time(ofMachine: before)) == .seconds(7205))
        #expect(clock.now.duration(since: clock.time(ofMachine: clock.machineTime)) == .zero)
    }

    @Test func `a clock is at most ten years ahead`() throws {
        let clock = TestClock { Timestamp(rawValue: 0) }
        try clock.advance(by: TestClock.limit)
        #expect(throws: ControlError.self) { try clock.advance(by: .seconds(1)) }
    }
}
