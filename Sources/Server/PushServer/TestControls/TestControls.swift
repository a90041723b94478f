import Synchronization

/// The part of a development server that tests use: its memory of requests, faults, a clock that advances.
package final class TestControls: Sendable {
    /// The requests that providers sent.
    package let received = ReceivedRequests()
    /// The faults that tests have set.
    package let faults = FaultPlan()
    /// The server's clock.
    package let clock: TestClock
    /// Whether connections can be shown a certificate that has expired.
    package let hasExpiredCertificate: Bool
    private let connections = Atomic<Int>(0)

    /// Has received nothing yet.
    package init(clock: TestClock, hasExpiredCertificate: Bool) {
        self.clock = clock
        self.hasExpiredCertificate = hasExpiredCertificate
    }

    /// The number of a new connection of a provider's.
    package func nextConnection() -> Int { connections.add(1, ordering: .relaxed).newValue }

    /// Remembers a request, and finds its fault.
    package func receive(_ request: ReceivedRequest) -> (number: Int, fault: Fault?) {
        let number = received.append(request)
        if request.parties.token == RefusingToken.silent { return (number, Fault.silence) }
        let fault = faults.fault(for: request.content, request.parties)
        if let fault { received.record(fault: fault.number, in: number) }
        return (number, fault)
    }
}
