import Foundation
import RelayProtocol
import Testing

@Suite struct RelayDirectoryTests {
    static let mine: [UInt8] = [1]
    static let others: [UInt8] = [2]

    var directory = RelayDirectory()

    static func device(_ name: String) -> RelayDevice { RelayDevice(id: "", name: name, kind: "desktop") }
    static func session(_ device: String, _ epoch: UInt64 = 1) -> RelaySession {
        RelaySession(device: device, epoch: epoch)
    }
    static func route(_ peer: String, deadline: Int64? = nil) -> RelayRoute {
        RelayRoute(peer: peer, id: UUID(), deadline: deadline, body: [])
    }

    func told(_ session: RelaySession, _ directives: [RelayDirectory.Directive]) -> [RelayFrame] {
        directives.compactMap { if case .send(let frame, session) = $0 { frame } else { nil } }
    }

    @discardableResult mutating func join(
        _ name: String, _ account: [UInt8] = mine, epoch: UInt64 = 1, at now: Int64 = 0
    ) -> [RelayDirectory.Directive] {
        directory.hello(Self.session(name, epoch), account: account, Self.device(name), at: now)
    }

    @Test("A device is told which devices there are, and the others of it, whatever id it says")
    mutating func joining() {
        join("a")
        let directives = directory.hello(
            Self.session("b"), account: Self.mine, RelayDevice(id: "a", name: "b", kind: "phone"), at: 0)
        guard case .changed(_, let device)? = told(Self.session("a"), directives).first else {
            return #expect(Bool(false), "a hears nothing")
        }
        #expect(device.id == "b" && device.presence == .online)
        guard
            case .welcome("b", _, let devices, _)? = told(Self.session("b"), directives)
                .first
        else {
            return #expect(Bool(false), "b is not welcome")
        }
        #expect(devices.map(\.id) == ["a", "b"])
    }

    @Test("Devices of another account hear of nothing, and cannot be reached")
    mutating func accounts() {
        join("a")
        #expect(told(Self.session("a"), join("x", Self.others)).isEmpty)
        let route = Self.route("a")
        #expect(
            directory.route(route, from: Self.session("x"), at: 0)
                == .send(.undelivered(id: route.id, .unknownDevice), to: Self.session("x")))
        #expect(told(Self.session("a"), directory.closed(Self.session("x"), at: 1)).isEmpty)
        #expect(told(Self.session("a"), directory.due(at: 10_000)).isEmpty)
    }

    private static func open(_ name: String) -> RelayDevice {
        var device = device(name)
        device.key = [UInt8](repeating: 7, count: 32)
        var app = RelayApp(id: "a.b", name: "A", services: ["mine", "all"], attributes: ["x": "y"])
        app.open = ["all"]
        device.apps = [app, RelayApp(id: "c.d", name: "C", services: ["mine"])]
        return device
    }

    @Test("A device of another account that offers something to anyone is found, and nothing else of it is seen")
    mutating func guests() {
        _ = directory.hello(Self.session("a"), account: Self.mine, Self.open("a"), at: 0)
        join("b")
        join("x", Self.others)
        let found = directory.find("a", by: Self.session("x"))
        guard case .found(let seen)? = told(Self.session("x"), found).first,
            case .visited(let guest)? = told(Self.session("a"), found).first
        else { return #expect(Bool(false), "it is not found") }
        #expect(seen.apps.map(\.id) == ["a.b"] && seen.apps[0].services == ["all"] && seen.apps[0].attributes.isEmpty)
        #expect(guest.id == "x" && guest.apps.isEmpty)
        for (from, to) in [("x", "a"), ("a", "x")] {
            guard
                case .forward(_, Self.session(to), _)? = directory.route(
                    Self.route(to), from: Self.session(from), at: 0)
            else { return #expect(Bool(false), "\(from) does not reach \(to)") }
        }
        for (from, to) in [("x", "b"), ("b", "x")] {
            let route = Self.route(to)
            #expect(
                directory.route(route, from: Self.session(from), at: 0)
                    == .send(.undelivered(id: route.id, .unknownDevice), to: Self.session(from)))
        }
        #expect(
            directory.find("b", by: Self.session("x")) == [.send(.notFound(device: "b"), to: Self.session("x"))])
        #expect(directory.find("a", by: Self.session("y")) == [.send(.notFound(device: "a"), to: Self.session("y"))])
        #expect(
            told(Self.session("x"), directory.closed(Self.session("a"), at: 1)) == [.removed(revision: 0, device: "a")])
        let late = Self.route("a")
        #expect(
            directory.route(late, from: Self.session("x"), at: 1)
                == .send(.undelivered(id: late.id, .unknownDevice), to: Self.session("x")))
    }

    @Test("A device talks with so many of others, and the oldest of them gives way")
    mutating func crowd() {
        _ = directory.hello(Self.session("a"), account: Self.mine, Self.open("a"), at: 0)
        for number in 0...32 {
            join("x\(number)", [9, UInt8(number)])
            let found = directory.find("a", by: Self.session("x\(number)"))
            #expect(told(Self.session("x0"), found).contains(.removed(revision: 0, device: "a")) == (number == 32))
        }
        guard case .send? = directory.route(Self.route("a"), from: Self.session("x0"), at: 0),
            case .forward? = directory.route(Self.route("a"), from: Self.session("x32"), at: 0)
        else { return #expect(Bool(false), "another gave way") }
    }

    @Test("Who has not said hello reaches nobody")
    mutating func stranger() {
        join("a")
        let route = Self.route("a")
        #expect(
            directory.route(route, from: Self.session("z"), at: 0)
                == .send(.undelivered(id: route.id, .notJoined), to: Self.session("z")))
    }

    @Test("What one device says reaches the other with its sender's id")
    mutating func routing() {
        join("a")
        join("b")
        let route = Self.route("b", deadline: 10)
        var forwarded = route
        forwarded.peer = "a"
        #expect(
            directory.route(route, from: Self.session("a"), at: 9)
                == .forward(forwarded, to: Self.session("b"), from: Self.session("a")))
        #expect(
            directory.route(route, from: Self.session("a"), at: 10)
                == .send(.undelivered(id: route.id, .expired), to: Self.session("a")))
    }

    @Test("An end is told at once to what is under way, and to watchers after the grace")
    mutating func grace() {
        join("a")
        join("b")
        let end = directory.closed(Self.session("b"), at: 100)
        #expect(end == [.send(.interrupted(device: "b"), to: Self.session("a")), .wake(at: 5_100)])
        let route = Self.route("b")
        #expect(
            directory.route(route, from: Self.session("a"), at: 101)
                == .send(.undelivered(id: route.id, .unavailable), to: Self.session("a")))
        #expect(directory.due(at: 5_099).isEmpty)
        guard case .changed(_, let device)? = told(Self.session("a"), directory.due(at: 5_100)).first else {
            return #expect(Bool(false), "a hears nothing")
        }
        #expect(device.presence == .offline)
    }

    @Test("A device that comes back within the grace was never away; that it is back is told for what was interrupted")
    mutating func flap() {
        join("a")
        join("b")
        _ = directory.closed(Self.session("b"), at: 100)
        guard case .changed(_, let device)? = told(Self.session("a"), join("b", epoch: 2, at: 200)).first else {
            return #expect(Bool(false), "a hears nothing")
        }
        #expect(device.presence == .online)
        #expect(directory.due(at: 10_000).isEmpty)
    }

    @Test("The newest session of a device counts, whatever order the ends come in")
    mutating func superseded() {
        join("a")
        join("b")
        join("b", epoch: 2)
        #expect(directory.closed(Self.session("b"), at: 1).isEmpty)
        #expect(join("b", epoch: 1).isEmpty)
        guard case .forward(_, let target, _) = directory.route(Self.route("b"), from: Self.session("a"), at: 1) else {
            return #expect(Bool(false), "b is not reached")
        }
        #expect(target == Self.session("b", 2))
    }

    @Test("A device that leaves is removed, and so is one that joins another account")
    mutating func leaving() {
        join("a")
        join("b")
        join("c")
        _ = directory.due(at: 1_000)
        #expect(
            told(Self.session("a"), directory.leaveAccount(Self.session("b"))).map {
                if case .removed(_, "b") = $0 { true } else { false }
            }
                == [true])
        let moved = join("c", Self.others)
        #expect(told(Self.session("a"), moved).map { if case .removed(_, "c") = $0 { true } else { false } } == [true])
        #expect(directory.accountCount == 2)
    }

    @Test("What was kept is known again, and who was there has the grace to come back")
    mutating func loading() {
        var kept: [String: RelayDevice] = [:]
        for directive in join("a") + join("b") {
            if case .keep(let device, Self.mine) = directive { kept[device.device.id] = device.device }
        }
        #expect(Set(kept.keys) == ["a", "b"])
        var away = Self.device("c")
        away.id = "c"
        away.presence = .offline
        var again = RelayDirectory()
        #expect(!again.knows(Self.mine))
        let devices = (Array(kept.values) + [away]).map { StoredDevice(device: $0, seen: 1) }
        #expect(again.load(Self.mine, devices, at: 100) == [.wake(at: 5_100)])
        directory = again
        guard
            case .welcome(_, _, let all, _)? = told(
                Self.session("a", 2), join("a", epoch: 2, at: 200)
            ).first
        else {
            return #expect(Bool(false), "a is not welcome")
        }
        #expect(
            Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.presence) }) == [
                "a": .online, "b": .online, "c": .offline,
            ])
        let told = told(Self.session("a", 2), directory.due(at: 5_100))
        #expect(told.map { if case .changed(_, let device) = $0 { device.id } else { "" } } == ["b"])
    }

    @Test("The others hear of a session that takes the place of another: what was under way to it may be lost")
    mutating func replacing() {
        join("a")
        join("b")
        let told = told(Self.session("a"), join("b", epoch: 2, at: 1_000))
        #expect(told.count == 2 && told.first == .interrupted(device: "b"))
        guard case .changed(_, let device)? = told.last else { return #expect(Bool(false), "it is not back") }
        #expect(device.id == "b" && device.presence == .online)
    }

    @Test("A device that is taken out is told, and is not of the account any more")
    mutating func dismissing() {
        join("a")
        join("b")
        let directives = directory.dismiss("b", by: Self.session("a"))
        for name in ["a", "b"] {
            #expect(
                told(Self.session(name), directives).map { if case .removed(_, "b") = $0 { true } else { false } } == [
                    true
                ])
        }
        #expect(directives.contains(.forget(device: "b")))
        let route = Self.route("a")
        #expect(
            directory.route(route, from: Self.session("b"), at: 1)
                == .send(.undelivered(id: route.id, .notJoined), to: Self.session("b")))
        #expect(directory.dismiss("a", by: Self.session("x")).isEmpty)
    }

    @Test("Two that name the same place meet and reach each other, and no third")
    mutating func meeting() {
        #expect(directory.pair(Self.session("a"), at: [7], from: nil, now: 0).isEmpty)
        #expect(directory.pair(Self.session("x"), at: [8], from: nil, now: 0).isEmpty)
        #expect(
            directory.pair(Self.session("b"), at: [7], from: nil, now: 1) == [
                .send(.peerJoined(device: "b"), to: Self.session("a")),
                .send(.peerJoined(device: "a"), to: Self.session("b")),
            ])
        #expect(directory.pair(Self.session("c"), at: [7], from: nil, now: 1).isEmpty)
        let route = Self.route("a")
        guard case .forward? = directory.route(route, from: Self.session("b"), at: 1) else {
            return #expect(Bool(false), "they do not reach each other")
        }
        guard case .send? = directory.route(route, from: Self.session("c"), at: 1) else {
            return #expect(Bool(false), "c reaches a")
        }
        _ = directory.closed(Self.session("a"), at: 2)
        guard case .send? = directory.route(route, from: Self.session("b"), at: 3) else {
            return #expect(Bool(false), "the end of a is not the end of the meeting")
        }
    }

    @Test("What waits for a device that is away reaches it when it comes, until its deadline")
    mutating func waiting() {
        join("a")
        join("b")
        _ = directory.closed(Self.session("b"), at: 0)
        var first = Self.route("b", deadline: 10_000)
        first.waits = true
        var second = Self.route("b", deadline: 20_000)
        second.waits = true
        #expect(directory.route(first, from: Self.session("a"), at: 1) == .wake(at: 10_000))
        #expect(directory.route(second, from: Self.session("a"), at: 1) == .wake(at: 20_000))
        #expect(directory.due(at: 10_000).contains(.send(.undelivered(id: first.id, .expired), to: Self.session("a"))))
        var forwarded = second
        forwarded.peer = "a"
        #expect(
            join("b", epoch: 2, at: 11_000).contains(
                .forward(forwarded, to: Self.session("b", 2), from: Self.session("a"))))
        #expect(directory.due(at: 30_000).isEmpty)
    }

    @Test("What waits is taken back by its sender, and by nobody else")
    mutating func withdrawing() {
        for device in ["a", "b", "c"] { join(device) }
        _ = directory.closed(Self.session("b"), at: 0)
        var (taken, kept) = (Self.route("b", deadline: 20_000), Self.route("b", deadline: 20_000))
        taken.waits = true
        kept.waits = true
        for route in [taken, kept] { _ = directory.route(route, from: Self.session("a"), at: 1) }
        directory.withdraw(kept.id, for: "b", by: Self.session("c"))
        directory.withdraw(taken.id, for: "b", by: Self.session("a", 2))
        directory.withdraw(UUID(), for: "x", by: Self.session("a"))
        let forwarded = join("b", epoch: 2, at: 2).compactMap {
            if case .forward(let route, _, _) = $0 { route.id } else { nil }
        }
        #expect(forwarded == [kept.id])
    }

    @Test("For one device 32 messages wait at most, and none longer than five minutes")
    mutating func waitingBounds() {
        join("a")
        join("b")
        _ = directory.closed(Self.session("b"), at: 0)
        func route(_ deadline: Int64?) -> RelayRoute {
            var route = Self.route("b", deadline: deadline)
            route.waits = true
            return route
        }
        func isHeld(_ route: RelayRoute) -> Bool {
            if case .send? = directory.route(route, from: Self.session("a"), at: 0) { false } else { true }
        }
        #expect(!isHeld(route(nil)))
        #expect(!isHeld(route(300_001)))
        for _ in 0..<32 { #expect(isHeld(route(300_000))) }
        #expect(!isHeld(route(300_000)))
    }

    @Test("An account that nobody is in is forgotten, and one has at most 64 devices")
    mutating func bounds() {
        for number in 0..<64 { join("d\(number)") }
        #expect(told(Self.session("more"), join("more")) == [.refused("the account has 64 devices already")])
        _ = directory.closed(Self.session("d3"), at: 5)
        #expect(told(Self.session("more"), join("more", at: 6)).count == 1)
        for number in 0..<64 { _ = directory.closed(Self.session("d\(number)"), at: 7) }
        _ = directory.closed(Self.session("more"), at: 7)
        _ = directory.due(at: 7 + RelayDirectory.grace)
        #expect(directory.accountCount == 0)
    }
}
