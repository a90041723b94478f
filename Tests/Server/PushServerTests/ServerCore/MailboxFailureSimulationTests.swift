import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// What must wait for a device whose server's store fails now and then.
private struct Expected {
    var waiting: [NotificationID] = []
    var inFlight: Set<NotificationID> = []
    /// In flight when a later one of their collapse id was accepted.
    var overtaken: Set<NotificationID> = []
    var newest: [String: NotificationID] = [:]

    mutating func accepted(_ id: NotificationID, _ collapseID: String?) {
        if let collapseID, let earlier = newest.updateValue(id, forKey: collapseID), waiting.contains(earlier) {
            if inFlight.contains(earlier) {
                overtaken.insert(earlier)
            } else {
                waiting.removeAll { $0 == earlier }
            }
        }
        waiting.append(id)
    }

    mutating func acknowledged(_ ids: [NotificationID]) {
        waiting.removeAll(where: ids.contains)
        inFlight.subtract(ids)
    }

    mutating func loggedIn() {
        waiting.removeAll(where: overtaken.contains)
        inFlight = []
        overtaken = []
    }
}

/// A random history of one device, each step of which the store may refuse.
private struct FailureSimulation {
    var random: SeededGenerator
    let server: TestServer
    var session: DeviceSessionID
    var expected = Expected()

    init(seed: UInt64, _ server: TestServer) async throws {
        random = SeededGenerator(seed: seed)
        self.server = server
        session = try await server.login(RecordingConnection())
    }

    mutating func step() async throws {
        server.store.isFailing.store(Int.random(in: 0..<3, using: &random) == 0)
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            let collapseID = ["a", "b", nil].randomElement(using: &random) ?? nil
            let verdict = try await server.accept(server.acceptance(collapseID: collapseID))
            if let id = verdict.id { expected.accepted(id, collapseID) }
        case 2:
            let rest = expected.waiting.filter { !expected.inFlight.contains($0) }
            let sent = Array(rest.prefix(Int.random(in: 0...3, using: &random)))
            server.service.sent(session, sent)
            expected.inFlight.formUnion(sent)
        case 3:
            // In the order of the connection, as devices do.
            let ids = Array(expected.inFlight.sorted().prefix(Int.random(in: 0...2, using: &random)))
            if await server.acknowledge(session, ids) { expected.acknowledged(ids) }
        default:
            guard case .welcome(let opened, _) = await server.loginVerdict(RecordingConnection()) else { return }
            session = opened
            expected.loggedIn()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct MailboxFailureSimulationTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `what waits is what was accepted and neither replaced nor acknowledged, whatever fails`(
        seed: UInt64
    ) async throws {
        try await withServer { server in
            var simulation = try await FailureSimulation(seed: seed, server)
            for step in 0..<60 {
                try await simulation.step()
                #expect(try await server.page().map(\.id) == simulation.expected.waiting, "step \(step)")
            }
            server.store.isFailing.store(false)
        }
    }
}
