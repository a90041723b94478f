import CoreValues
import Crypto
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct RelayStreamTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()), ownServices: ["run"])
    static let stream = UUID()

    mutating func connect() {
        _ = host.sessionOpened(at: 0)
        let devices = ["1", "9", "8"].map { RelayDevice(id: $0, name: $0, kind: "phone") }
        _ = host.received(.welcome(device: "1", revision: 1, devices: devices), at: 0)
    }

    mutating func arrive(
        _ content: RelayContent, id: UUID = UUID(), from device: String = "9", deadline: Int64? = nil,
        at now: Timestamp = 0
    ) throws -> [Host.Directive] {
        host.received(
            .route(RelayRoute(peer: device, id: id, deadline: deadline, body: try content.encoded())), at: now)
    }

    func said(_ directives: [Host.Directive]) throws -> [RelayContent] {
        try directives.compactMap {
            if case .send(.route(let route)) = $0 { try RelayContent(route.body) } else { nil }
        }
    }

    func orders(_ directives: [Host.Directive]) -> [RelayFileOrder] {
        directives.compactMap { if case .file(Self.stream, let order) = $0 { order } else { nil } }
    }

    mutating func offer(size: Int64) throws {
        connect()
        _ = try arrive(.offer(RelayOffer(name: "f", size: size, modified: 1)), id: Self.stream)
    }

    @Test("No more than a window of all files together is asked for, and more as it is written")
    mutating func window() throws {
        try offer(size: 4 << 20)
        let first = try said(host.filed(Self.stream, .prepared(length: 0, digest: []), at: 0))
        #expect(first == [.pull(stream: Self.stream, offset: 0, length: 262_144, prefix: [])])
        let piece = [UInt8](repeating: 1, count: RelayFiles.pieceSize)
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 0, piece))) == [.write(offset: 0, piece)])
        #expect(try said(host.filed(Self.stream, .written(upTo: 65_535), at: 0)).isEmpty)
        #expect(
            try said(host.filed(Self.stream, .written(upTo: 65_536), at: 0))
                == [.pull(stream: Self.stream, offset: 262_144, length: 65_536, prefix: [])])
    }

    @Test("Files go into the folder that the person has named last, which is not made anew")
    mutating func folders() throws {
        func places(_ directives: [Host.Directive]) -> [String] {
            directives.compactMap {
                if case .file(_, .prepare(let folder, _, let isMade)) = $0 { "\(folder) \(isMade)" } else { nil }
            }
        }
        connect()
        let offer = RelayContent.offer(RelayOffer(name: "f", size: 1, modified: 1))
        #expect(places(try arrive(offer)) == ["/tmp true"])
        _ = host.take(
            .manage(request: 1, .filesFolder("/named")), from: 7, app: "t", name: "T", isTerminal: true, at: 0)
        #expect(places(try arrive(offer)) == ["/named false"])
    }

    @Test("While the devices say something else little of a file is under way", arguments: [49, 50] as [Int64])
    mutating func talk(at moment: Int64) throws {
        try offer(size: 4 << 20)
        _ = try arrive(.cancel(command: UUID()))
        let first = try said(host.filed(Self.stream, .prepared(length: 0, digest: []), at: Timestamp(rawValue: moment)))
        let length: Int64 = moment < 50 ? 65_536 : 262_144
        #expect(first == [.pull(stream: Self.stream, offset: 0, length: length, prefix: [])])
    }

    @Test("What came earlier is named by its digest, and a file that is another begins anew")
    mutating func resumption() throws {
        try offer(size: 100)
        let digest = [UInt8](repeating: 3, count: 32)
        #expect(
            try said(host.filed(Self.stream, .prepared(length: 40, digest: digest), at: 0))
                == [.pull(stream: Self.stream, offset: 40, length: 60, prefix: digest)])
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 0, [1, 2]))) == [.write(offset: 0, [1, 2])])
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 2, [3]))) == [.write(offset: 2, [3])])
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 2, [3]))).isEmpty)
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 9, [3]))).isEmpty)
    }

    @Test("A file of which all had come, but of another of its size, begins anew")
    mutating func sameSize() throws {
        try offer(size: 100)
        let digest = [UInt8](repeating: 3, count: 32)
        let whole = [UInt8](repeating: 4, count: 32)
        #expect(
            try said(host.filed(Self.stream, .prepared(length: 100, digest: digest), at: 0))
                == [.pull(stream: Self.stream, offset: 100, length: 0, prefix: digest)])
        #expect(
            try said(arrive(.piecesEnded(stream: Self.stream, digest: whole)))
                == [.pull(stream: Self.stream, offset: 0, length: 100, prefix: [])])
        let bytes = [UInt8](repeating: 1, count: 100)
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 0, bytes))) == [.write(offset: 0, bytes)])
        #expect(
            orders(try arrive(.piecesEnded(stream: Self.stream, digest: whole)))
                == [.finish(name: "f", digest: whole)])
    }

    @Test("Where as much is there as the file has, its digest is told, whatever is there", arguments: [true, false])
    func reading(_ isSame: Bool) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/aldaba-\(UUID().uuidString)"
        let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(FileManager.default.createFile(atPath: path, contents: bytes))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let offer = try #require(RelayFiles.offer(of: path))
        let whole = Array(SHA256.hash(data: bytes))
        let files = RelayFiles()
        let (told, telling) = AsyncStream.makeStream(of: RelayFileEvent.self)
        let prefix = isSame ? whole : [UInt8](repeating: 1, count: 32)
        files.follow(Self.stream, .read(path: path, offer, offset: 1000, length: 0, prefix: prefix)) {
            telling.yield($0)
        }
        files.follow(Self.stream, .read(path: path, offer, offset: 0, length: 1000, prefix: [])) { telling.yield($0) }
        var events: [RelayFileEvent] = []
        for await event in told.prefix(3) { events.append(event) }
        #expect(events == [.ended(digest: whole), .piece(offset: 0, [UInt8](bytes)), .ended(digest: whole)])
    }

    @Test("Another device's pieces and asks are nothing; nor is what was not asked for")
    mutating func strangers() throws {
        try offer(size: 10)
        _ = host.filed(Self.stream, .prepared(length: 0, digest: []), at: 0)
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 0, [1]), from: "8")).isEmpty)
        #expect(orders(try arrive(.piece(stream: Self.stream, offset: 0, [UInt8](repeating: 0, count: 11)))).isEmpty)
        #expect(orders(try arrive(.pull(stream: Self.stream, offset: 0, length: 1, prefix: []))).isEmpty)
        #expect(orders(try arrive(.piecesEnded(stream: Self.stream, digest: [1]))).isEmpty)
    }

    @Test("Pieces that stop coming are asked for again, and after three times given up")
    mutating func silence() throws {
        try offer(size: 10)
        _ = host.filed(Self.stream, .prepared(length: 0, digest: []), at: 0)
        for round in 1...3 {
            #expect(
                try said(host.due(at: Timestamp(seconds: Int64(round) * 10)))
                    == [.pull(stream: Self.stream, offset: 0, length: 10, prefix: [])])
        }
        guard case .outcome(Self.stream, let outcome)? = try said(host.due(at: 40_000)).first else {
            return #expect(Bool(false), "it is not given up")
        }
        #expect(outcome.status == .failed)
    }

    @Test("A file of a device that went away is left, and goes on with the same offer")
    mutating func interrupted() throws {
        try offer(size: 10)
        _ = host.filed(Self.stream, .prepared(length: 0, digest: []), at: 0)
        #expect(orders(host.received(.interrupted(device: "9"), at: 1)) == [.leave])
        let again = try arrive(.offer(RelayOffer(name: "f", size: 10, modified: 1)), id: Self.stream, at: 2)
        guard case .prepare? = orders(again).first else { return #expect(Bool(false), "it does not go on") }
    }

    @Test("A file is offered again when the device is back, and its end is told once")
    mutating func offeredAgain() throws {
        connect()
        let order = RelayOrder.file(path: "/f", RelayOffer(name: "f", size: 10, modified: 1))
        let begun = host.take(
            .command(request: 5, id: Self.stream, device: "9", deadline: 100_000, order), from: 1, app: "t", name: "t",
            isTerminal: true, at: 0)
        #expect(try said(begun).count == 1)
        #expect(
            orders(try arrive(.pull(stream: Self.stream, offset: 0, length: 10, prefix: [])))
                == [.read(path: "/f", RelayOffer(name: "f", size: 10, modified: 1), offset: 0, length: 10, prefix: [])])
        #expect(try said(host.received(.interrupted(device: "9"), at: 1)).isEmpty)
        let back = host.received(.changed(revision: 2, RelayDevice(id: "9", name: "9", kind: "phone")), at: 2)
        #expect(try said(back) == [.offer(RelayOffer(name: "f", size: 10, modified: 1))])
        let ended = try arrive(.outcome(command: Self.stream, RelayOutcome(.success)), at: 3)
        #expect(
            ended.contains {
                if case .tell(1, .answered(5, _, let outcome)) = $0 { outcome.status == .success } else { false }
            })
        #expect(orders(ended) == [.leave])
    }

    @Test("An app sends no files of this device")
    mutating func apps() {
        connect()
        let order = RelayOrder.file(path: "/etc/passwd", RelayOffer(name: "f", size: 10, modified: 1))
        let answer = host.take(
            .command(request: 5, id: nil, device: "9", deadline: nil, order), from: 1, app: "a", name: "a",
            isTerminal: false, at: 0)
        guard case .tell(1, .answered(5, _, let outcome))? = answer.first else {
            return #expect(Bool(false), "no answer")
        }
        #expect(outcome.status == .notAuthorized)
    }

    @Test(
        "Names from outside stay in their folder",
        arguments: [
            ("a.txt", "a.txt"), ("../../etc/passwd", "etcpasswd"), (".hidden", "hidden"), ("..", "file"), ("", "file"),
            ("a\u{1b}[2Jb", "a[2Jb"), (" x", "x"), ("a\u{202E}gpj.exe", "agpj.exe"),
        ])
    func names(_ given: String, _ name: String) {
        #expect(RelayFiles.name(given, 0) == name)
        #expect(RelayFiles.name("a.tar.gz", 2) == "a.tar (2).gz")
        #expect(RelayFiles.name("a", 1) == "a (1)")
        #expect(RelayFiles.name(String(repeating: "é", count: 120), 0).utf8.count <= 200)
    }

    // MARK: The person's word

    mutating func call(_ id: UUID = UUID(), at now: Timestamp = 0) throws -> [Host.Directive] {
        try arrive(
            .call(RelayCall(app: Host.ownApp, service: "run", caller: "c", message: [:])), id: id, deadline: 100_000,
            at: now)
    }

    func ticket(_ directives: [Host.Directive]) -> Int64? {
        directives.compactMap { if case .ask(let ticket, _) = $0 { ticket } else { nil } }.first
    }

    func isServed(_ directives: [Host.Directive]) -> Bool {
        directives.contains { if case .serve = $0 { true } else { false } }
    }

    mutating func offerPrograms() {
        connect()
        host.settings.programs = ["x": ["/bin/true"]]
    }

    @Test("A file that another device asked for is over with that device's word, and leaves room for others")
    mutating func given() throws {
        connect()
        for number in 0..<40 {
            let isGiven = host.give("/tmp/photo", RelayOffer(name: "photo", size: 1, modified: 1), to: "9")
            #expect(isGiven, "the file \(number)")
            let offers = host.takeDirectives(at: 0).compactMap { directive -> UUID? in
                if case .send(.route(let route)) = directive { route.id } else { nil }
            }
            let id = try #require(offers.first)
            let outcome = RelayOutcome(number % 2 == 0 ? .success : .resourceLimits)
            let ended =
                number % 3 == 0
                ? host.received(.undelivered(id: id, .overloaded), at: 1)
                : try arrive(.outcome(command: id, outcome), at: 1)
            #expect(ended.contains(.file(stream: id, .leave)))
        }
    }

    @Test("The person is asked once at a time; once is once, always is kept, and a denial is remembered")
    mutating func asking() throws {
        offerPrograms()
        let first = try #require(ticket(try call()))
        #expect(ticket(try call()) == nil)
        let once = host.decided(first, .once, at: 0)
        #expect(isServed(once))
        #expect(!host.settings.isGranted("9", app: Host.ownApp, service: "run"))
        let second = try #require(ticket(once))
        #expect(isServed(host.decided(second, .always, at: 0)))
        #expect(isServed(try call()))
        host.settings.grants = []
        let third = try #require(ticket(try call()))
        #expect(!isServed(host.decided(third, .deny, at: 0)))
        #expect(ticket(try call()) == nil)
    }

    @Test("Nobody's answer is a no after a minute, and the question is taken back")
    mutating func unanswered() throws {
        offerPrograms()
        let ticket = try #require(ticket(try call()))
        let late = host.due(at: 60_000)
        #expect(late.contains(.withdraw(ticket: ticket)))
        #expect(!isServed(host.decided(ticket, .always, at: 60_001)))
        #expect(!host.settings.isGranted("9", app: Host.ownApp, service: "run"))
    }

    private static let offer = RelayRequest.publish(
        request: 1, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:])
    private static let question = RelayContent.call(
        RelayCall(app: "a.b", service: "s", caller: "c", message: ["q": 1]))

    /// An app offers a service, and ends.
    private mutating func offerAndEnd() {
        connect()
        _ = host.take(Self.offer, from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
        _ = host.removeClient(1, at: 0)
    }

    @Test("An app that had offered a service is started for a call, once, and asked when it offers it again")
    mutating func waking() throws {
        offerAndEnd()
        #expect(host.describedDevice.apps.first { $0.id == "a.b" }?.presence == .wakeable)
        let content = Self.question
        let parked = try arrive(content, deadline: 100_000)
        #expect(parked.contains(.start(app: "a.b")))
        #expect(!(try arrive(content, deadline: 100_000)).contains(.start(app: "a.b")))
        let woken = host.take(Self.offer, from: 2, app: "a.b", name: "A", isTerminal: false, at: 5)
        #expect(woken.filter { if case .tell(2, .asked) = $0 { true } else { false } }.count == 2)
        _ = host.removeClient(2, at: 6)
        _ = try arrive(content, deadline: 100_000, at: 10)
        let late = try said(host.due(at: 20_010))
        #expect(
            late.contains { if case .outcome(_, let outcome) = $0 { outcome.status == .appUnavailable } else { false } }
        )
    }

    @Test("What was allowed once is not asked again when the app has been started for it")
    mutating func allowedAndStarted() throws {
        connect()
        let offer = RelayRequest.publish(
            request: 1, services: [RelayService(name: "s", access: .granted)], schemes: [], attributes: [:])
        _ = host.take(offer, from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
        _ = host.removeClient(1, at: 0)
        func isAsked(_ directives: [Host.Directive]) -> Bool {
            directives.contains { if case .tell(2, .asked) = $0 { true } else { false } }
        }
        let question = try #require(ticket(try arrive(Self.question, deadline: 100_000)))
        let allowed = host.decided(question, .once, at: 1)
        #expect(allowed.contains(.start(app: "a.b")))
        let started = host.take(offer, from: 2, app: "a.b", name: "A", isTerminal: false, at: 2)
        #expect(isAsked(started) && ticket(started) == nil)
        #expect(host.settings.grants.isEmpty)
        #expect(ticket(try arrive(Self.question, deadline: 100_000, at: 3)) != nil)
    }

    @Test("A started app that ends, or whose program cannot be started, is not waited for")
    mutating func endedAtOnce() throws {
        offerAndEnd()
        let content = Self.question
        _ = try arrive(content, deadline: 100_000)
        #expect(try said(host.notRunning(app: "a.c", at: 1)).isEmpty)
        let ends = try said(host.notRunning(app: "a.b", at: 1))
        #expect(
            ends.contains { if case .outcome(_, let outcome) = $0 { outcome.status == .appUnavailable } else { false } }
        )
        #expect(try said(host.due(at: 20_010)).isEmpty)
        #expect(try arrive(content, deadline: 100_000, at: 30_000).contains(.start(app: "a.b")))
    }

    @Test("A caller hears before its own deadline that the app did not come")
    mutating func beforeTheDeadline() throws {
        offerAndEnd()
        let content = Self.question
        _ = try arrive(content, deadline: 5_000)
        #expect(try said(host.due(at: 3_999)).allSatisfy { if case .outcome = $0 { false } else { true } })
        let ends = try said(host.due(at: 4_000))
        #expect(
            ends.contains { if case .outcome(_, let outcome) = $0 { outcome.status == .appUnavailable } else { false } }
        )
    }

    private static func launch(_ uri: String, app: String? = nil, preferred: [String] = []) -> RelayContent {
        .launch(
            RelayLaunch(
                uri: uri, app: app, fallback: "https://example.org/", preferredApps: preferred, caller: "c"))
    }

    private static func publish(_ schemes: [String]) -> RelayRequest {
        .publish(request: 1, services: [], schemes: schemes, attributes: [:])
    }

    @Test("An app that had offered to open a scheme is started for an address", arguments: [nil, "a.b"])
    mutating func wakingForALaunch(_ app: String?) throws {
        connect()
        _ = host.take(Self.publish(["todo"]), from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
        _ = host.removeClient(1, at: 0)
        #expect(host.describedDevice.apps.first { $0.id == "a.b" }?.presence == .wakeable)
        let parked = try arrive(Self.launch("todo:1", app: app), deadline: 100_000)
        #expect(parked.contains(.start(app: "a.b")))
        let woken = host.take(Self.publish(["todo"]), from: 2, app: "a.b", name: "A", isTerminal: false, at: 5)
        #expect(woken.contains { if case .tell(2, .launch) = $0 { true } else { false } })
        _ = host.removeClient(2, at: 6)
        _ = try arrive(Self.launch("todo:1", app: app), deadline: 100_000, at: 10)
        let late = host.due(at: 20_010)
        #expect(late.contains { if case .open(_, "https://example.org/", nil) = $0 { true } else { false } })
        var other = try arrive(Self.launch("other:1", app: app))
        if case .findOpener(let ticket, let scheme, _)? = other.first {
            other = host.foundOpener(ticket, scheme: scheme, isPresent: false, at: 10)
        }
        #expect(other.contains { if case .open(_, "https://example.org/", nil) = $0 { true } else { false } })
    }

    @Test("The apps that an address is wanted in are asked in their order, whether they run or not")
    mutating func preferredApps() throws {
        connect()
        for (client, app) in [(1, "a.a"), (2, "b.b"), (3, "c.c")] as [(ClientNumber, String)] {
            _ = host.take(Self.publish(["todo"]), from: client, app: app, name: app, isTerminal: false, at: 0)
        }
        func asked(_ directives: [Host.Directive]) -> ClientNumber? {
            directives.lazy.compactMap { if case .tell(let client, .launch) = $0 { client } else { nil } }.first
        }
        #expect(asked(try arrive(Self.launch("todo:1", preferred: ["x.x", "c.c", "b.b"]))) == 3)
        #expect(asked(try arrive(Self.launch("todo:1", preferred: ["b.b", "c.c"]))) == 2)
        #expect(asked(try arrive(Self.launch("todo:1", preferred: ["x.x"]))) == 1)
        _ = host.removeClient(3, at: 0)
        let parked = try arrive(Self.launch("todo:1", preferred: ["c.c", "b.b"]), deadline: 100_000)
        #expect(asked(parked) == nil && parked.contains(.start(app: "c.c")))
    }
}
