import RelayProtocol
import Testing

/// A directory of one of several servers.
@Suite struct SharedDirectoryTests {
    private let own = RelaySession(device: "1", epoch: 1)
    private let other = RelaySession(device: "2", epoch: 1, node: 5)

    private func device(_ id: String) -> RelayDevice { RelayDevice(id: id, name: "n\(id)", kind: "desktop") }

    private func read(
        since: Int64 = -1, revision: Int64, lastDocument: Int64 = 0, other: RelaySession?
    ) -> SharedAccount {
        SharedAccount(
            since: since, revision: revision, lastDocument: lastDocument,
            changed: [SharedDevice(StoredDevice(device: device("2"), seen: 0), session: other)], devices: ["1", "2"])
    }

    private func directory() -> RelayDirectory {
        var directory = RelayDirectory(epoch: 7)
        directory.isShared = true
        directory.begin([9])
        _ = directory.synchronize([9], with: read(revision: 1, other: other), at: 10_000)
        _ = directory.hello(own, account: [9], device("1"), at: 10_000)
        return directory
    }

    private func route(_ directory: inout RelayDirectory) -> RelayDirectory.Directive? {
        directory.route(
            RelayRoute(peer: "2", id: .init(), deadline: nil, body: [1]), from: own, at: 10_001)
    }

    @Test("A message for a device of another server is forwarded to its session")
    func forwarded() {
        var directory = directory()
        guard case .forward(_, to: other, from: own) = route(&directory) else {
            Issue.record("it is not forwarded")
            return
        }
        #expect(directory.mayReach(own, from: other) == true)
        #expect(directory.mayReach(own, from: RelaySession(device: "2", epoch: 2, node: 5)) == nil)
    }

    @Test("When a server ends, its sessions are interrupted, and they count again once the account is read whole")
    func endedServer() {
        var directory = directory()
        let directives = directory.end(nodes: [5], at: 11_000)
        #expect(directives.contains(.send(.interrupted(device: "2"), to: own)))
        guard case .send(.undelivered(_, .unavailable), to: own) = route(&directory) else {
            Issue.record("a message is not refused")
            return
        }
        // A reading that began before is not taken for one of everything.
        _ = directory.synchronize([9], with: read(since: 1, revision: 2, other: other), at: 11_001)
        #expect(directory.session(of: "2", in: [9]) == nil && directory.sharedRevision(of: [9]) == -1)
        _ = directory.synchronize([9], with: read(revision: 2, other: other), at: 11_002)
        #expect(directory.session(of: "2", in: [9]) == other)
    }

    @Test("Documents that were stored while an account was read again are announced")
    func documents() {
        var directory = directory()
        directory.forgetRevisions()
        let again = directory.synchronize([9], with: read(revision: 3, lastDocument: 4, other: other), at: 12_000)
        #expect(again.hasNewDocuments)
        #expect(
            !directory.synchronize([9], with: read(revision: 4, lastDocument: 4, other: other), at: 12_001)
                .hasNewDocuments)
    }

    @Test("A lost message interrupts both ends, where the session that it was for is not over")
    func lostMessage() {
        var directory = directory()
        #expect(directory.handleLoss(of: RelaySession(device: "2", epoch: 0, node: 4), for: own).isEmpty)
        let directives = directory.handleLoss(of: other, for: own)
        #expect(directives.first == .send(.interrupted(device: "2"), to: own))
        #expect(directives.contains(.send(.interrupted(device: "1"), to: other)))
        let isBack = directives.contains {
            if case .send(.changed(_, let device), to: own) = $0 { device.id == "2" } else { false }
        }
        #expect(isBack)
    }

    @Test("A message that waits goes to the server to which its device comes, also when its sender has gone")
    func waits() {
        var directory = directory()
        _ = directory.synchronize([9], with: read(since: 1, revision: 2, other: nil), at: 10_001)
        let route = RelayRoute(peer: "2", id: .init(), deadline: 60_000, body: [1], waits: true)
        _ = directory.route(route, from: own, at: 10_002)
        _ = directory.closed(own, at: 10_003)
        _ = directory.due(at: 20_000)
        directory.release([9])
        let there = RelaySession(device: "2", epoch: 2, node: 6)
        let directives = directory.synchronize([9], with: read(since: 2, revision: 3, other: there), at: 20_001)
            .directives
        #expect(directives.contains { if case .forward(_, to: there, from: own) = $0 { true } else { false } })
        directory.release([9])
        #expect(directory.accountCount == 0)
    }

    @Test("A device that another server has removed is removed, and its session here is told")
    func removed() {
        var directory = directory()
        let gone = SharedAccount(since: 1, revision: 2, changed: [], devices: ["2"])
        let directives = directory.synchronize([9], with: gone, at: 12_000).directives
        #expect(directives.contains { if case .send(.removed(_, device: "1"), to: own) = $0 { true } else { false } })
        directory.release([9])
        #expect(directory.accountCount == 0)
    }
}
