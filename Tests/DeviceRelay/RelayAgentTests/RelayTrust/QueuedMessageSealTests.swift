import Foundation
import RelayAgent
import RelayProtocol
import Testing

@Suite struct QueuedMessageSealTests {
    private let account = AccountKey()

    /// Seals of a device and what the server is told of it.
    private func device(_ id: String, key: [UInt8], account: AccountKey? = nil) -> (RelaySeals, RelayDevice)? {
        var seals = RelaySeals(key: key)
        let account = account ?? self.account
        seals.begin(device: id, account: account)
        let described = RelayDevice(id: id, name: "n" + id, kind: "desktop")
        guard
            case .send(.hello(_, let told, wake: _, known: _)) = seals.outgoing(
                .hello(token: account.accessToken, described), at: 0)
        else { return nil }
        return (seals, told)
    }

    private func welcome(_ seals: inout RelaySeals, _ devices: [RelayDevice]) {
        _ = seals.incoming(.welcome(device: "", revision: 1, devices: devices), at: 0)
    }

    private func open(_ queuedMessage: QueuedMessage, by seals: inout RelaySeals) -> [UInt8]? {
        if case .queuedMessage(let opened)? = seals.incoming(.queuedMessage(queuedMessage), at: 0).frame {
            opened.body
        } else {
            nil
        }
    }

    @Test("A queued message is read by a device that began anew, also by the list alone; the server sees none of it")
    func anew() throws {
        let (keyA, keyB) = (RelaySeals.newKey(), RelaySeals.newKey())
        var (a, toldA) = try #require(device("1", key: keyA))
        var (_, toldB) = try #require(device("2", key: keyB))
        toldB.presence = .offline
        welcome(&a, [toldA, toldB])
        let queuedMessage = QueuedMessage(peer: "2", id: UUID(), deadline: 77, body: Array("a secret".utf8))
        guard case .send(.queuedMessage(var sent)) = a.outgoing(.queuedMessage(queuedMessage), at: 0) else {
            Issue.record("it was not sealed")
            return
        }
        #expect(sent.body.count == 8 + 32 + 16)
        #expect(sent.body.firstRange(of: Array("secret".utf8)) == nil)
        sent.peer = "1"
        var (b, _) = try #require(device("2", key: keyB))
        #expect(open(sent, by: &b) == [])
        var list = RelayDeviceList()
        list.set("1", key: toldA.key, isRemoved: false)
        b.takes(list)
        #expect(open(sent, by: &b) == Array("a secret".utf8))
        list.set("1", key: toldA.key, isRemoved: true)
        b.takes(list)
        #expect(open(sent, by: &b) == [])
    }

    @Test("Another sender, id, deadline or byte is not opened, nor what a device of another account sealed")
    func bound() throws {
        let (keyA, keyB) = (RelaySeals.newKey(), RelaySeals.newKey())
        var (a, toldA) = try #require(device("1", key: keyA))
        var (b, toldB) = try #require(device("2", key: keyB))
        let (_, toldC) = try #require(device("3", key: RelaySeals.newKey()))
        welcome(&a, [toldA, toldB])
        welcome(&b, [toldA, toldB, toldC])
        let queuedMessage = QueuedMessage(peer: "2", id: UUID(), deadline: 77, body: [1, 2, 3])
        guard case .send(.queuedMessage(var sent)) = a.outgoing(.queuedMessage(queuedMessage), at: 0) else {
            Issue.record("it was not sealed")
            return
        }
        sent.peer = "1"
        #expect(open(sent, by: &b) == [1, 2, 3])
        for change: (inout QueuedMessage) -> Void in [
            { $0.peer = "3" }, { $0.id = UUID() }, { $0.deadline = 78 }, { $0.body[40] ^= 1 }, { $0.body = [] },
            { $0.body = Array($0.body.prefix(20)) },
        ] {
            var other = sent
            change(&other)
            #expect(open(other, by: &b) == [])
        }
        // Who has not proven to be of the account is sent nothing.
        var (_, stranger) = try #require(device("9", key: RelaySeals.newKey(), account: AccountKey()))
        stranger.presence = .online
        welcome(&a, [toldA, stranger])
        let posted = QueuedMessage(peer: "9", id: queuedMessage.id, deadline: 77, body: [1])
        guard case .refused(.undelivered(queuedMessage.id, .untrusted)) = a.outgoing(.queuedMessage(posted), at: 0)
        else {
            Issue.record("it was sealed for a stranger")
            return
        }
    }
}
