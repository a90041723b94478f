import Foundation
import RelayProtocol
import Testing

@Suite struct RelayValueTests {
    /// Values and their bytes, as RFC 8949 (appendix A) has them where it does.
    static let encodings: [(RelayValue, String)] = [
        (0, "00"), (23, "17"), (24, "1818"), (1000, "1903e8"), (1_000_000, "1a000f4240"), (-1, "20"), (-100, "3863"),
        (.integer(.max), "1b7fffffffffffffff"), (.integer(.min), "3b7fffffffffffffff"),
        (0.0, "f90000"), (-0.0, "f98000"), (1.0, "f93c00"), (1.5, "f93e00"), (65504.0, "f97bff"),
        (100000.0, "fa47c35000"), (1.1, "fb3ff199999999999a"), (5.960464477539063e-8, "f90001"),
        (.double(.infinity), "f97c00"), (.double(.nan), "f97e00"), (true, "f5"), (false, "f4"),
        ("", "60"), ("IETF", "6449455446"), ("ü", "62c3bc"), (.data([1, 2, 3]), "43010203"),
        ([1, 2, 3], "83010203"), ([], "80"), (["a": 1], "a1616101"),
        (.date(milliseconds: 1_363_896_240_000), "c11a514b67b0"),
        (.date(milliseconds: 1_363_896_240_500), "c1fb41d452d9ec200000"),
        (.date(milliseconds: -1), "c1fbbf50624dd2f1a9fc"),
        (
            .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
            "d82550000102030405060708090a0b0c0d0e0f"
        ),
    ]

    static func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).map { place in
            UInt8(text.dropFirst(place).prefix(2), radix: 16) ?? 0
        }
    }

    static var filters: [RelayDeviceFilter] {
        var filter = RelayDeviceFilter()
        filter.narrow(kinds: ["Phone"])
        filter.narrow(platforms: ["linux", ""])
        filter.narrow(isDirect: false)
        filter.isAvailable = true
        var none = RelayDeviceFilter()
        none.excludeAll()
        return [filter, none, RelayDeviceFilter()]
    }

    @Test("A random id is of version 4, and no other")
    func randomIDs() {
        let ids = Set((1...1000).map { _ in UUID.random() })
        #expect(ids.count == 1000)
        #expect(ids.allSatisfy { $0.uuid.6 >> 4 == 4 && $0.uuid.8 >> 6 == 0b10 })
    }

    @Test("A value has one encoding, and is read from it as it was", arguments: encodings)
    func encoding(_ value: RelayValue, _ hexadecimal: String) throws {
        let bytes = Self.bytes("a16176" + hexadecimal)
        #expect(try RelayEncoder.encode(["v": value]) == bytes)
        let back = try #require(try RelayDecoder.decode(bytes)["v"])
        if case .double(let number) = value, number.isNaN {
            guard case .double(let read) = back else { return #expect(Bool(false), "\(back) is no double") }
            #expect(read.isNaN)
        } else {
            #expect(back == value)
        }
    }

    @Test("Names stand in the order of their bytes, shorter ones first")
    func order() throws {
        let bytes = try RelayEncoder.encode(["bb": 1, "a": 2, "c": 3, "ab": 4])
        #expect(bytes == Self.bytes("a4" + "616102" + "616303" + "62616204" + "62626201"))
    }

    @Test(
        "What cannot be sent is refused with its place",
        arguments: [
            (["photos": [1, "two"]], "photos[1]"), (["a": ["b": [["c": [true, 1]]]]], "a.b[0].c[1]"),
            (["n": [1, 2.0]], "n[1]"), (["d": .date(milliseconds: .max)], "d"),
        ] as [(RelayMap, String)])
    func place(_ message: RelayMap, _ path: String) throws {
        let fault = #expect(throws: RelayFault.self) { try RelayEncoder.encode(message) }
        #expect(fault?.path == path)
    }

    @Test("A message that is too large, too deep or of too many values is refused at once")
    func limits() throws {
        #expect(try RelayEncoder.encode(["d": .data([UInt8](repeating: 0, count: 65_000))]).count == 65_006)
        #expect(throws: RelayFault.self) {
            try RelayEncoder.encode(["d": .data([UInt8](repeating: 0, count: 65_536))])
        }
        var deep: RelayValue = 1
        for _ in 0..<15 { deep = ["d": deep] }
        #expect(try RelayDecoder.decode(try RelayEncoder.encode(["d": deep])) == ["d": deep])
        let deeper: RelayMap = ["d": ["d": deep]]
        let fault = #expect(throws: RelayFault.self) { try RelayEncoder.encode(deeper) }
        #expect(fault?.problem == .tooDeep(limit: 16))
        #expect(throws: RelayFault.self) {
            try RelayEncoder.encode(["d": .array(Array(repeating: 1, count: 4096))])
        }
    }

    @Test(
        "Bytes that this encoding does not write are not read",
        arguments: [
            "", "a1", "80", "a0a0", "a1617618", "a161761817", "a16176190018", "a16176fb3ff0000000000000",
            "a16176fa3f800000", "a16176f6", "a16176f7", "a161765f42010243030405ff", "bf6176f5ff", "a26162016161 02",
            "a2616101616102", "a16176c249010000000000000000", "a161761bffffffffffffffff", "a161766180",
            "a16176820161 61",
            "a10101", "a16176d825410a", "a16176c1f93c00", "a16176c16161", "a16176f97e01", "a161769bffffffffffffffff",
            "bbffffffffffffffff", "a16176c1fb7ff0000000000000",
        ])
    func malformed(_ hexadecimal: String) {
        let bytes = Self.bytes(hexadecimal.filter { $0 != " " })
        #expect(throws: RelayFault.self) { try RelayDecoder.decode(bytes) }
    }

    @Test("No beginning of a message is one")
    func truncated() throws {
        let whole = try RelayEncoder.encode(["a": [["b": "text"]], "d": 1.1, "u": .uuid(UUID())])
        for count in 0..<whole.count {
            #expect(throws: RelayFault.self) { try RelayDecoder.decode(whole[..<count]) }
        }
    }

    @Test("Frames, contents, requests and notices are read as they were written")
    func frames() throws {
        let app = RelayApp(
            id: "a.b", name: "A", services: ["s"], schemes: ["x"], attributes: ["k": "v"], presence: .offline)
        var device = RelayDevice(id: "7", name: "N", kind: "laptop", presence: .wakeable, apps: [app])
        (device.manufacturer, device.model) = ("M", "X1")
        let id = UUID()
        let frames: [RelayFrame] = [
            .hello(token: [UInt8](repeating: 7, count: 32), device), .goodbye,
            .hello(
                token: [UInt8](repeating: 7, count: 32), device,
                wake: RelayWakeChannel(service: .apns, token: "aa", environment: .sandbox)),
            .hello(
                token: [UInt8](repeating: 7, count: 32), device, wake: RelayWakeChannel(service: .fcm, token: "t")),
            .hello(token: [UInt8](repeating: 7, count: 32), device, known: DirectoryRevision(epoch: -5, revision: 9)),
            .changes(RelayChanges(epoch: 2, since: 3, revision: 4, devices: [device], removed: ["8"])),
            .changes(
                RelayChanges(device: "7", epoch: 2, since: nil, revision: 4, devices: [device], undescribed: ["7"])),
            .welcome(device: "7", revision: 3, devices: [device]),
            .welcome(device: "7", revision: 3, devices: [device], undescribed: ["1"]), .changed(revision: 4, device),
            .withdraw(device: "7", id: id),
            .removed(revision: 5, device: "7"), .interrupted(device: "7"),
            .route(RelayRoute(peer: "8", id: id, deadline: 9, body: [1])), .undelivered(id: id, .overloaded),
            .route(RelayRoute(peer: "8", id: id, deadline: nil, body: [1], isBulk: true, waits: true)),
            .dismiss(device: "7"), .meet(place: [UInt8](repeating: 7, count: 32)), .peerJoined(device: "7"),
            .refused("why"), .unknown("later"),
        ]
        for frame in frames { #expect(try RelayFrame(frame.encoded()) == frame) }
        var launch = RelayLaunch(uri: "x:", app: "a", fallback: "https://f", preferredApps: ["p"], caller: "c")
        launch.input = ["n": 1]
        let call = RelayCall(app: "a", service: "s", caller: "c", connection: id, message: ["m": 1])
        let contents: [RelayContent] = [
            .launch(launch), .call(call), .open(app: "a", service: "s", caller: "c"),
            .close(connection: id, .resourceLimits), .executing(command: id),
            .outcome(command: id, RelayOutcome(.denied, message: ["m": 1], detail: "d")), .cancel(command: id),
            .offer(RelayOffer(name: "f", size: 1 << 40, modified: 5, answers: "a")),
            .pull(stream: id, offset: 1 << 33, length: 7, prefix: [1]), .piece(stream: id, offset: 0, [1, 2]),
            .piecesEnded(stream: id, digest: [3]), .rekey("k", proof: [4]), .resume(connections: [id]),
            .close(connection: id, .idle), .unknown("later"),
        ]
        for content in contents { #expect(try RelayContent(content.encoded()) == content) }
        let requests: [RelayRequest] = [
            .publish(
                request: 1, services: [RelayService(name: "s", access: .granted)], schemes: ["x"],
                attributes: ["k": "v"]),
            .watch(request: 1), .watch(request: 1, filters: Self.filters), .unwatch(request: 1),
            .command(
                request: 1, id: id, device: "8", deadline: 5,
                .launch(uri: "x:", app: nil, fallback: nil, preferredApps: [], input: ["list": [1, 2]])),
            .command(request: 1, id: nil, device: "8", deadline: nil, .call(app: "a", service: "s", message: [:])),
            .command(request: 1, id: nil, device: "8", deadline: nil, .open(app: "a", service: "s")),
            .command(request: 1, id: nil, device: "", deadline: nil, .send(connection: id, message: ["m": 1])),
            .command(
                request: 1, id: nil, device: "8", deadline: 5, waits: true,
                .file(path: "/f", RelayOffer(name: "f", size: 0, modified: 0))),
            .answer(call: 2, RelayOutcome(.success)), .close(request: 1, connection: id, .completed),
            .cancel(request: 1, id: id), .life(request: 1, id: id), .manage(request: 1, .status),
            .manage(request: 1, .join(key: "k")), .manage(request: 1, .scheme("x", allowed: true)),
            .manage(request: 1, .grant(device: "*", app: "a", service: "s", allowed: false)),
            .manage(request: 1, .grant(device: "*", app: "a", service: "s", allowed: true, seconds: 60)),
            .manage(
                request: 1, .grant(device: "*", app: "a", service: "s", allowed: true, needsUnlocked: true)),
            .manage(request: 1, .filesFolder("/f")), .manage(request: 1, .photosFolder("/p")),
            .manage(request: 1, .program(name: "n", words: ["a", "b"])), .manage(request: 1, .pair(word: nil)),
            .manage(request: 1, .pair(word: "w")), .manage(request: 1, .confirm(true)),
            .manage(request: 1, .dismiss(device: "7")), .manage(request: 1, .log), .manage(request: 1, .commands),
            .manage(request: 1, .connections(idle: 5, grace: nil)),
            .manage(request: 1, .deny(device: "*", app: "a", service: "s")), .manage(request: 1, .grants(from: 7)),
            .unknown("later"),
        ]
        for request in requests { #expect(try RelayRequest(request.encoded()) == request) }
        let notices: [RelayNotice] = [
            .answered(request: 1, id: id, RelayOutcome(.success)), .life(request: 1, .executing, nil),
            .life(request: 1, nil, .success), .managed(request: 1, ["k": "v"]), .added(device), .updated(device),
            .removed(device: "7"), .enumerationCompleted, .watchFailed(.noAccount, "why"),
            .asked(call: 1, id: id, device: "7", deadline: 5, call),
            .opened(connection: id, device: "7", app: "a", service: "s", caller: "c"),
            .closed(connection: id, .unknown),
            .launch(call: 1, device: "7", launch), .cancelled(call: 3),
            .progress(request: 1, done: 2, size: 3), .received(device: "7", path: "/f"),
            .told(request: 1, ["k": "v"]), .unknown("later"),
        ]
        for notice in notices { #expect(try RelayNotice(notice.encoded()) == notice) }
    }

    @Test(
        "A file's size has bounds, so that places in it can be counted on from",
        arguments: [-1, 1 << 60, 1 << 60 + 1, .max])
    func offeredSize(_ size: Int64) throws {
        let bytes = try RelayContent.offer(RelayOffer(name: "f", size: size, modified: 0)).encoded()
        let isRead = (try? RelayContent(bytes)) != nil
        #expect(isRead == (size == RelayOffer.largest))
    }
}
