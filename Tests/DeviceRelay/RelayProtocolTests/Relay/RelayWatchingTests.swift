import Foundation
import RelayProtocol
import Testing

/// What the devices of an account are told of each other, and when.
@Suite struct RelayWatchingTests {
    static let account: [UInt8] = [1]
    var directory = RelayDirectory(epoch: 40)
    /// What each device knows, as it would itself.
    var told: [String: AnnouncedDevices] = [:]
    var bytes: [String: Int] = [:]

    static func device(_ name: String, apps: Int = 0, text: String = "v") -> RelayDevice {
        RelayDevice(
            id: name, name: name, kind: "desktop",
            apps: (0..<apps).map {
                RelayApp(
                    id: "com.example.app\($0)", name: "Application \($0)", services: ["service", "other"],
                    attributes: ["k": text])
            })
    }

    /// What follows at the devices that say what they know.
    @discardableResult
    mutating func follow(_ directives: [RelayDirectory.Directive]) throws -> [String: [RelayFrame]] {
        var frames: [String: [RelayFrame]] = [:]
        for case .send(let frame, let session) in directives {
            bytes[session.device, default: 0] += try frame.encoded().count
            frames[session.device, default: []] += told[session.device]?.incoming(frame) ?? [frame]
        }
        return frames
    }

    @discardableResult
    mutating func hello(
        _ described: RelayDevice, epoch: UInt64 = 1, isOld: Bool = false, at now: Int64
    ) throws -> [String: [RelayFrame]] {
        var known: DirectoryRevision?
        if !isOld {
            let hello = told[described.id, default: AnnouncedDevices()].outgoing(.hello(token: [1], described))
            if case .hello(_, _, wake: _, known: let state) = hello { known = state }
        }
        return try follow(
            directory.hello(
                RelaySession(device: described.id, epoch: epoch), account: Self.account, described, knows: known,
                at: now))
    }

    private func devices(_ frames: [RelayFrame]?) -> [RelayDevice]? {
        guard case .welcome(_, revision: _, devices: let devices, undescribed: _)? = frames?.first else { return nil }
        return devices
    }

    @Test("A device that comes back is told only what changed: little, in an account of 64 devices with 32 apps each")
    mutating func comingBack() throws {
        for number in 0..<64 { try hello(Self.device("d\(number)", apps: 32), at: Int64(number) * 1000) }
        _ = try follow(directory.due(at: 100_000))
        _ = directory.closed(RelaySession(device: "d5", epoch: 1), at: 100_000)
        bytes = [:]
        let back = try hello(Self.device("d5", apps: 32), epoch: 2, at: 101_000)
        #expect(try #require(bytes["d5"]) < 200)
        #expect(devices(back["d5"])?.count == 64)
        #expect(devices(back["d5"])?.allSatisfy { $0.apps.count == 32 } == true)
        _ = directory.closed(RelaySession(device: "d5", epoch: 2), at: 102_000)
        try hello(Self.device("d6", apps: 32, text: "new"), at: 103_000)
        _ = try follow(directory.leaveAccount(RelaySession(device: "d7", epoch: 1)))
        bytes = [:]
        let again = try hello(Self.device("d5", apps: 32), epoch: 3, at: 104_000)
        #expect(try #require(bytes["d5"]) < 8_000)
        let all = try #require(devices(again["d5"]))
        #expect(all.count == 63 && !all.contains { $0.id == "d7" })
        #expect(all.first { $0.id == "d6" }?.apps.first?.attributes == ["k": "new"])
    }

    @Test("A device that knows of another counting, or too old a state, or says nothing, is told all anew")
    mutating func anew() throws {
        try hello(Self.device("a"), at: 0)
        try hello(Self.device("b"), at: 1000)
        directory = RelayDirectory(epoch: 70)
        try hello(Self.device("b"), epoch: 2, at: 2000)
        let back = directory.hello(
            RelaySession(device: "a", epoch: 2), account: Self.account, Self.device("a"),
            knows: DirectoryRevision(epoch: 41, revision: 2), at: 3000)
        let answers = back.compactMap {
            if case .send(.changes(let changes), _) = $0, changes.device == "a" { changes } else { nil }
        }
        let changes = try #require(answers.first)
        #expect(changes.since == nil && changes.devices.count == 2)
        for number in 0..<70 {
            try hello(Self.device("x\(number)"), at: 4000)
            _ = try follow(directory.leaveAccount(RelaySession(device: "x\(number)", epoch: 1)))
        }
        for (state, isAll) in [(changes.revision, true), (changes.revision + 140, false)] {
            let known = DirectoryRevision(epoch: changes.epoch, revision: state)
            let told = directory.hello(
                RelaySession(device: "a", epoch: UInt64(state) + 9), account: Self.account, Self.device("a"),
                knows: known, at: 9000)
            let since = told.compactMap {
                if case .send(.changes(let changes), _) = $0, changes.device == "a" { changes.since ?? -1 } else { nil }
            }
            #expect(since == [isAll ? -1 : state])
        }
        let old = try hello(Self.device("o"), isOld: true, at: 10_000)
        #expect(devices(old["o"])?.count == 3)
    }

    @Test("The first change of a quiet time is told at once, those of the next 100 ms together")
    mutating func coalescing() throws {
        for name in ["a", "b"] { try hello(Self.device(name), at: 0) }
        try hello(Self.device("o"), isOld: true, at: 0)
        _ = try follow(directory.due(at: 1000))
        var count: [String: Int] = [:]
        for number in 0..<50 {
            let frames = try hello(Self.device("b", apps: 1, text: "\(number)"), at: 2000 + Int64(number))
            for (device, all) in frames { count[device, default: 0] += all.count }
            #expect(frames.isEmpty == (number > 0))
        }
        #expect(count == ["a": 1, "o": 1])
        #expect(try follow(directory.due(at: 2099)).isEmpty)
        let rest = try follow(directory.due(at: 2100))
        #expect(rest.keys.sorted() == ["a", "o"])
        for frames in rest.values {
            guard case .changed(_, let device)? = frames.first, frames.count == 1 else {
                Issue.record("not one change: \(frames)")
                continue
            }
            #expect(device.apps.first?.attributes == ["k": "49"])
        }
        #expect(try follow(directory.due(at: 5000)).isEmpty)
    }

    @Test("A device hears of another one before what that says, however short the time")
    mutating func order() throws {
        for name in ["a", "b"] { try hello(Self.device(name), at: 0) }
        #expect(try hello(Self.device("c"), at: 1)["a"] == nil)
        let before = try follow(directory.pendingChanges(before: "c", to: "a", by: RelaySession(device: "c", epoch: 1)))
        guard case .changed(_, let device)? = before["a"]?.first else {
            Issue.record("it is told nothing")
            return
        }
        #expect(device.id == "c" && before.count == 1)
        #expect(directory.pendingChanges(before: "c", to: "a", by: RelaySession(device: "c", epoch: 1)).isEmpty)
        #expect(try follow(directory.due(at: 100)).keys.sorted() == ["b"])
    }

    @Test("What has no room in one frame is told in several, each of which ends at a state")
    mutating func portions() throws {
        try hello(Self.device("a"), at: 0)
        let long = String(repeating: "x", count: 3000)
        try hello(Self.device("b"), at: 0)
        for number in 0..<5 { try hello(Self.device("d\(number)", apps: 32, text: long), at: 1) }
        var revisions: [Int64] = []
        var ids: [String] = []
        for case .send(.changes(let changes), let session) in directory.due(at: 100) where session.device == "a" {
            #expect(changes.since == (revisions.last ?? changes.since))
            revisions.append(changes.revision)
            ids += changes.devices.map(\.id)
            #expect(try RelayFrame.changes(changes).encoded().count < 300_000)
        }
        #expect(ids == (0..<5).map { "d\($0)" } && revisions.count == 5)
    }

    @Test("A device of which a change was lost says that it knows nothing")
    func holes() {
        var told = AnnouncedDevices()
        func state() -> DirectoryRevision? {
            var copy = told
            guard
                case .hello(_, _, wake: _, known: let known) = copy.outgoing(
                    .hello(token: [1], Self.device("a")))
            else {
                return nil
            }
            return known
        }
        _ = told.outgoing(.hello(token: [1], Self.device("a")))
        _ = told.incoming(
            .changes(RelayChanges(device: "a", epoch: 3, since: nil, revision: 5, devices: [Self.device("b")])))
        #expect(state() == DirectoryRevision(epoch: 3, revision: 5))
        _ = told.incoming(.changes(RelayChanges(epoch: 3, since: 5, revision: 6, devices: [Self.device("c")])))
        #expect(state() == DirectoryRevision(epoch: 3, revision: 6))
        _ = told.incoming(.changes(RelayChanges(epoch: 3, since: 7, revision: 8, devices: [Self.device("c")])))
        #expect(state() == DirectoryRevision())
        _ = told.incoming(
            .changes(
                RelayChanges(
                    device: "a", epoch: 3, since: nil, revision: 8, devices: [Self.device("b")], undescribed: ["b"])))
        #expect(state() == DirectoryRevision())
        _ = told.incoming(.changed(revision: 8, Self.device("b")))
        #expect(state() == DirectoryRevision(epoch: 3, revision: 8))
        // An older server counts nothing.
        _ = told.incoming(.welcome(device: "a", revision: 9, devices: [Self.device("b")]))
        #expect(state() == DirectoryRevision())
        _ = told.outgoing(.hello(token: [2], Self.device("a")))
        #expect(state() == DirectoryRevision())
    }

    @Test("Whatever devices do, and however often one is away, it knows in the end what the others are")
    mutating func simulation() throws {
        var seed: UInt64 = 5
        func draw(_ range: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % range
        }
        let names = (0..<6).map { "d\($0)" }
        var here: [String: UInt64] = [:]
        var shown: [String: [String: RelayDevice]] = [:]
        var now: Int64 = 0
        var number: UInt64 = 0
        func show(_ frames: [String: [RelayFrame]]) {
            for (device, all) in frames {
                for frame in all {
                    switch frame {
                    case .welcome(_, revision: _, devices: let devices, undescribed: _):
                        shown[device] = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0) })
                    case .changed(_, let other): shown[device]?[other.id] = other
                    case .removed(_, let other): shown[device]?[other] = nil
                    default: break
                    }
                }
            }
        }
        for step in 0..<3000 {
            now += Int64(draw(60))
            if draw(20) == 0 { now += 6000 }
            let name = names[draw(6)]
            number += 1
            switch (draw(6), here[name]) {
            case (0, let epoch?):
                show(try follow(directory.closed(RelaySession(device: name, epoch: epoch), at: now)))
                here[name] = nil
            case (1, let epoch?) where draw(4) == 0:
                _ = told[name]?.outgoing(.goodbye)
                show(try follow(directory.leaveAccount(RelaySession(device: name, epoch: epoch))))
                here[name] = nil
            case (_, let epoch):
                here[name] = epoch ?? number
                let device = Self.device(name, apps: draw(3), text: "\(step)")
                show(try hello(device, epoch: here[name] ?? 0, isOld: name == "d5", at: now))
            }
            show(try follow(directory.due(at: now)))
            guard step % 20 == 0 else { continue }
            now += 200
            show(try follow(directory.due(at: now)))
            for name in here.keys {
                let snapshot = directory.snapshot(for: RelaySession(device: name, epoch: here[name] ?? 0))
                var all: [RelayDevice] = []
                for case .send(let frame, _) in snapshot {
                    if case .changes(let changes) = frame { all = changes.devices }
                    if case .welcome(_, revision: _, devices: let devices, undescribed: _) = frame { all = devices }
                }
                let others = shown[name]?.values.filter { $0.id != name }.sorted { $0.id < $1.id }
                #expect(others == all.filter { $0.id != name })
            }
        }
    }
}
