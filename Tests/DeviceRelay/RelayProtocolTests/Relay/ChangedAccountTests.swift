import Foundation
import RelayProtocol
import Testing

/// Devices that change accounts, and begin them.
@Suite struct ChangedAccountTests {
    private static let mine: [UInt8] = [1]
    private static let others: [UInt8] = [2]

    private static func device(_ name: String) -> RelayDevice { RelayDevice(id: "", name: name, kind: "desktop") }
    private static func session(_ device: String, _ epoch: UInt64 = 1) -> RelaySession {
        RelaySession(device: device, epoch: epoch)
    }

    @Test("A device that says in another session that it is another account's has left the one that it was of")
    func changedAccounts() throws {
        var directory = RelayDirectory()
        _ = directory.hello(Self.session("a"), account: Self.mine, Self.device("a"), at: 0)
        _ = directory.hello(Self.session("x"), account: Self.mine, Self.device("x"), at: 0)
        _ = directory.closed(Self.session("x"), at: 1)
        let said = directory.hello(Self.session("x", 2), account: Self.others, Self.device("x"), at: 200)
        #expect(
            said.contains {
                if case .send(.removed(_, "x"), Self.session("a")) = $0 { true } else { false }
            })
        // What was kept of it in the one account is deleted before it is kept in the other.
        let kept = said.compactMap { directive -> String? in
            switch directive {
            case .forget(let device): "forget \(device)"
            case .keep(let device, let account): "keep \(device.device.id) \(account == Self.others)"
            default: nil
            }
        }
        #expect(kept == ["forget x", "keep x true"])
        let message = RelayRoute(peer: "x", id: UUID(), deadline: nil, body: [1])
        guard
            case .send(.undelivered(_, .unknownDevice), _)? = directory.route(message, from: Self.session("a"), at: 201)
        else { return #expect(Bool(false), "it is still of the account") }
        #expect(directory.due(at: 10_000).allSatisfy { if case .keep = $0 { false } else { true } })
    }

    @Test("A device begins so many accounts a day, and no more; those that there are it may join")
    func founding() {
        var directory = RelayDirectory()
        func hello(_ number: Int, at now: Int64) -> [RelayDirectory.Directive] {
            directory.hello(
                Self.session("a", UInt64(number + 1)), account: [UInt8(number)], Self.device("a"), at: now)
        }
        func isRefused(_ directives: [RelayDirectory.Directive]) -> Bool {
            directives.contains { if case .send(.refused, _) = $0 { true } else { false } }
        }
        for number in 0..<32 { #expect(!isRefused(hello(number, at: 0))) }
        #expect(isRefused(hello(32, at: 1)))
        _ = directory.hello(Self.session("b"), account: [200], Self.device("b"), at: 2)
        #expect(!isRefused(hello(200, at: 3)))
        #expect(!isRefused(hello(201, at: 86_400_000)))
    }
}
