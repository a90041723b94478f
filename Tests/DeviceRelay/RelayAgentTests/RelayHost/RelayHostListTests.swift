import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct RelayHostListTests {
    typealias Host = RelayHost

    static let account = AccountKey()
    var host: Host

    init() {
        var settings = RelaySettings(name: "here", account: Self.account)
        settings.deviceKey = RelaySeals.newKey()
        host = Host(settings: settings)
    }

    static func device(_ id: String, presence: RelayPresence = .online) -> RelayDevice {
        var device = RelayDevice(id: id, name: id, kind: "desktop", presence: presence)
        device.key = [UInt8](repeating: 9, count: 32)
        return device
    }

    mutating func connect() -> [Host.Directive] {
        _ = host.sessionOpened(at: 0)
        return host.received(
            .welcome(device: "1", revision: 1, devices: [Self.device("1"), Self.device("9")]), at: 0)
    }

    func lists(_ directives: [Host.Directive]) -> [(device: String, list: RelayDeviceList, signature: [UInt8])] {
        directives.compactMap {
            guard case .send(.route(let route)) = $0,
                case .list(let list, let signature)? = try? RelayContent(route.body)
            else { return nil }
            return (route.peer, list, signature)
        }
    }

    mutating func hear(_ list: RelayDeviceList, by account: AccountKey = account) throws -> [Host.Directive] {
        let content = RelayContent.list(list, signature: account.signature(of: list))
        return host.received(
            .route(RelayRoute(peer: "9", id: UUID(), deadline: nil, body: try content.encoded())), at: 0)
    }

    @Test("A device enters itself, and tells those that are there, signed by the account's key")
    mutating func entering() throws {
        let told = lists(connect())
        #expect(told.map(\.device) == ["9"])
        let first = try #require(told.first)
        #expect(first.list["1"]?.isRemoved == false && first.list.counter == 1)
        #expect(Self.account.hasSigned(first.list, first.signature))
        #expect(!AccountKey().hasSigned(first.list, first.signature))
        // The same again changes nothing.
        #expect(lists(connect()).first?.list == first.list)
    }

    @Test("Who was taken out by the list is none of the person's any more, whatever the server says, now or later")
    mutating func removal() throws {
        _ = connect()
        _ = host.take(.watch(request: 1), from: 1, app: "a", name: "A", isTerminal: false, at: 0)
        var list = try #require(host.settings.list)
        list.set("9", key: Self.device("9").key, isRemoved: true)
        let told = try hear(list)
        #expect(told.contains(.tell(1, .removed(device: "9"))))
        #expect(told.contains(.save(host.settings)))
        // An older list, in which it is there, does not bring it back.
        var old = RelayDeviceList()
        old.set("9", key: Self.device("9").key, isRemoved: false)
        _ = try hear(old)
        #expect(host.settings.list?["9"]?.isRemoved == true)
        // Neither does its own proof.
        var seals = RelaySeals()
        seals.begin(device: "1", account: Self.account)
        seals.takes(host.settings.list)
        var back = Self.device("9")
        back.proof = Self.account.proof(of: back)
        #expect(seals.incoming(.changed(revision: 2, back), at: 0).frame == nil)
        let route = RelayRoute(peer: "9", id: UUID(), deadline: nil, body: [1])
        guard case .refused = seals.outgoing(.route(route), at: 0) else { return #expect(Bool(false), "it leaves") }
    }

    @Test("A list that the account's key has not signed is not taken, and is noted")
    mutating func forged() throws {
        _ = connect()
        let before = host.settings
        var list = try #require(host.settings.list)
        list.set("9", key: Self.device("9").key, isRemoved: true)
        let told = try hear(list, by: AccountKey())
        #expect(host.settings == before)
        #expect(told.contains { if case .note(let entry) = $0 { entry.status == .denied } else { false } })
    }

    @Test("A device that is told an older list answers with its own, and one that was entered apart is kept")
    mutating func apart() throws {
        _ = connect()
        var list = RelayDeviceList()
        list.set("7", key: [UInt8](repeating: 7, count: 32), isRemoved: false)
        list.set("9", key: Self.device("9").key, isRemoved: false)
        let told = lists(try hear(list))
        let answer = try #require(told.first?.list)
        #expect(answer.entries.map(\.id) == ["1", "7", "9"] && answer.counter > list.counter)
        #expect(lists(try hear(list)).first?.list == answer)
        #expect(lists(try hear(answer)).isEmpty)
    }

    @Test("Who leaves says so itself before it goes")
    mutating func leaving() throws {
        _ = connect()
        let left = host.take(.manage(request: 3, .leave), from: 2, app: "t", name: "T", isTerminal: true, at: 0)
        let told = try #require(lists(left).first)
        #expect(told.list["1"]?.isRemoved == true)
        let goodbye = left.firstIndex(of: .send(.goodbye))
        let said = left.firstIndex { if case .send(.route) = $0 { true } else { false } }
        #expect(try #require(said) < #require(goodbye))
        #expect(host.settings.list == nil)
    }

    @Test("A device that the server slips in is not shown, and one that loses its proof is gone")
    func slippedIn() {
        var seals = RelaySeals()
        seals.begin(device: "1", account: Self.account)
        var proven = Self.device("9")
        proven.proof = Self.account.proof(of: proven)
        let welcome = RelayFrame.welcome(
            device: "1", revision: 1, devices: [Self.device("1"), Self.device("8"), proven])
        guard case .welcome(_, _, let shown, _)? = seals.incoming(welcome, at: 0).frame
        else {
            return #expect(Bool(false), "nothing is shown")
        }
        #expect(shown.map(\.id) == ["1", "9"])
        #expect(seals.incoming(.changed(revision: 2, Self.device("8")), at: 0).frame == nil)
        #expect(
            seals.incoming(.changed(revision: 3, Self.device("9")), at: 0).frame == .removed(revision: 3, device: "9"))
    }

    /// The messages that give another account key to those that stay, when one is taken out.
    private static func dismissal(by host: inout Host) -> [RelayRoute] {
        let directives = host.take(
            .manage(request: 1, .dismiss(device: "5")), from: 1, app: "t", name: "T", isTerminal: true, at: 0)
        return directives.compactMap {
            guard case .send(.route(let route)) = $0, case .rekey? = try? RelayContent(route.body) else { return nil }
            return route
        }
    }

    @Test("Another account key counts once, where it follows the one that the device has")
    mutating func successors() throws {
        let devices = ["1", "5", "9"].map { Self.device($0) }
        var other = Host(settings: RelaySettings(name: "there", account: Self.account))
        func open(_ host: inout Host, _ id: String) {
            _ = host.sessionOpened(at: 0)
            _ = host.received(.welcome(device: id, revision: 1, devices: devices), at: 0)
        }
        var said: [RelayRoute] = []
        for _ in 0..<2 {
            open(&host, "1")
            open(&other, "9")
            var route = try #require(Self.dismissal(by: &host).first { $0.peer == "9" })
            route.peer = "1"
            said.append(route)
            _ = other.received(.route(route), at: 0)
            #expect(other.settings.account == host.settings.account)
        }
        for route in said {
            let directives = other.received(.route(route), at: 1)
            #expect(directives.contains { if case .note(let entry) = $0 { entry.status == .denied } else { false } })
            #expect(other.settings.account == host.settings.account)
        }
    }
}
