import Foundation
import RelayProtocol
import Testing

@Suite struct RelayWakingTests {
    static let mine: [UInt8] = [1]
    static let channel = RelayWakeChannel(service: .apns, token: "aa")
    static let caller = RelaySession(device: "a", epoch: 1)
    static let phone = RelaySession(device: "p", epoch: 1)

    var directory = RelayDirectory()

    init() {
        directory.canWake = true
        _ = directory.hello(Self.caller, account: Self.mine, Self.device("a"), at: 0)
        come()
        _ = directory.closed(Self.phone, at: 0)
    }

    static func device(_ name: String) -> RelayDevice {
        RelayDevice(id: "", name: name, kind: "phone", apps: [RelayApp(id: "x.y", name: "X", services: ["s"])])
    }

    @discardableResult
    mutating func come(_ session: RelaySession = phone, wake: RelayWakeChannel? = channel, at now: Int64 = 0)
        -> [RelayDirectory.Directive]
    {
        directory.hello(session, account: Self.mine, Self.device("p"), wake: wake, at: now)
    }

    mutating func say(deadline: Int64?, waits: Bool = false, isBulk: Bool = false, at now: Int64)
        -> (id: UUID, told: RelayDirectory.Directive?)
    {
        let route = RelayRoute(peer: "p", id: UUID(), deadline: deadline, body: [], isBulk: isBulk, waits: waits)
        return (route.id, directory.route(route, from: Self.caller, at: now))
    }

    static func push(until: Int64) -> RelayPush {
        RelayPush(device: "p", account: mine, channel: channel, until: until)
    }

    static func seen(_ directives: [RelayDirectory.Directive]) -> RelayDevice? {
        for case .send(.changed(_, let device), to: caller) in directives { return device }
        return nil
    }

    @Test("A device that can be woken is wakeable after its grace, with its apps; the others are offline")
    mutating func presence() throws {
        let changed = try #require(Self.seen(directory.due(at: 5_000)))
        #expect(changed.presence == .wakeable && changed.apps.map(\.presence) == [.wakeable])
        let next = RelaySession(device: "p", epoch: 2)
        come(next, wake: nil, at: 6_000)
        _ = directory.closed(next, at: 6_000)
        #expect(try #require(Self.seen(directory.due(at: 11_000))).presence == .offline)
    }

    @Test("What has a deadline wakes the device, in its grace too, and is there when it comes")
    mutating func delivery() {
        let first = say(deadline: 20_000, at: 1_000)
        #expect(first.told == .push(Self.push(until: 20_000)))
        _ = directory.due(at: 5_000)
        let arrived = come(RelaySession(device: "p", epoch: 2), at: 7_000).compactMap { directive -> UUID? in
            if case .forward(let route, _, Self.caller) = directive { route.id } else { nil }
        }
        #expect(arrived == [first.id])
        #expect(directory.due(at: 20_000) == [])
    }

    @Test("Much that is said within two seconds wakes once; after that it wakes again")
    mutating func pace() {
        #expect(say(deadline: 20_000, at: 1_000).told == .push(Self.push(until: 20_000)))
        #expect(say(deadline: 20_000, at: 2_999).told == .wake(at: 20_000))
        #expect(say(deadline: 21_000, at: 3_000).told == .push(Self.push(until: 21_000)))
    }

    @Test("What has no deadline, a piece of a file, and what would wait for too long wakes nobody")
    mutating func others() {
        for (deadline, isBulk) in [(nil, false), (20_000, true), (1_000 + 300_001, false)] as [(Int64?, Bool)] {
            let said = say(deadline: deadline, isBulk: isBulk, at: 1_000)
            #expect(said.told == .send(.undelivered(id: said.id, .unavailable), to: Self.caller))
        }
        directory.canWake = false
        let said = say(deadline: 20_000, at: 1_000)
        #expect(said.told == .send(.undelivered(id: said.id, .unavailable), to: Self.caller))
    }

    @Test("A device that was woken and did not come is another end than one that was only away")
    mutating func late() {
        let woken = say(deadline: 20_000, at: 1_000)
        #expect(directory.due(at: 20_000).contains(.send(.undelivered(id: woken.id, .asleep), to: Self.caller)))
        directory.canWake = false
        let waiting = say(deadline: 40_000, waits: true, at: 21_000)
        #expect(directory.due(at: 40_000) == [.send(.undelivered(id: waiting.id, .expired), to: Self.caller)])
    }

    @Test("Where a push cannot be sent all hear of it who wait for nothing else")
    mutating func failure() {
        let waking = say(deadline: 20_000, at: 1_000)
        let waiting = say(deadline: 20_000, waits: true, at: 1_000)
        #expect(
            directory.notWoken(Self.push(until: 20_000), isDead: false)
                == [.send(.undelivered(id: waking.id, .notWoken), to: Self.caller)])
        // The next command tries it again.
        #expect(say(deadline: 30_000, at: 4_000).told == .push(Self.push(until: 30_000)))
        let arrived = come(RelaySession(device: "p", epoch: 2), at: 7_000)
        #expect(arrived.contains { if case .forward(let route, _, _) = $0 { route.id == waiting.id } else { false } })
    }

    @Test("A channel that is dead is used no more, and the device is offline")
    mutating func death() throws {
        _ = directory.due(at: 5_000)
        #expect(say(deadline: 20_000, at: 6_000).told == .push(Self.push(until: 20_000)))
        let directives = directory.notWoken(Self.push(until: 20_000), isDead: true)
        #expect(try #require(Self.seen(directives)).presence == .offline)
        guard case .keep(let kept, Self.mine)? = directives.last else { return #expect(Bool(false), "nothing is kept") }
        #expect(kept.wake == nil && kept.device.presence == .offline)
        let said = say(deadline: 20_000, at: 9_000)
        #expect(said.told == .send(.undelivered(id: said.id, .unavailable), to: Self.caller))
        // What comes late about the old channel does not concern another one.
        let next = RelaySession(device: "p", epoch: 2)
        come(next, wake: RelayWakeChannel(service: .apns, token: "bb"), at: 9_500)
        _ = directory.closed(next, at: 9_500)
        #expect(directory.notWoken(Self.push(until: 20_000), isDead: true) == [])
    }

    @Test("After a restart a device is what it was, as far as it can be woken now", arguments: [true, false])
    mutating func loading(canWake: Bool) throws {
        var kept = Self.device("p")
        kept.id = "p"
        kept.presence = .wakeable
        var again = RelayDirectory()
        again.canWake = canWake
        _ = again.load(Self.mine, [StoredDevice(device: kept, seen: 1, wake: Self.channel)], at: 0)
        let told = again.hello(Self.caller, account: Self.mine, Self.device("a"), at: 0)
        let all = told.compactMap {
            if case .send(.welcome(_, _, let devices, _), _) = $0 {
                devices
            } else {
                nil
            }
        }
        .first
        #expect(try #require(all).first { $0.id == "p" }?.presence == (canWake ? .wakeable : .offline))
    }
}
