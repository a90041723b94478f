import CoreValues
import Foundation
import RelayAgent
import RelayProtocol
import Testing

@Suite struct RelayHostTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))

    static let there = RelayDevice(id: "9", name: "there", kind: "phone")

    mutating func connect() {
        _ = host.sessionOpened(at: 0)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        _ = host.received(.welcome(device: "1", revision: 1, devices: [here, Self.there]), at: 0)
    }

    @discardableResult mutating func ask(
        _ request: RelayRequest, client: ClientNumber = 1, app: String = "a.b", terminal: Bool = false,
        at now: Timestamp = 0
    ) -> [Host.Directive] {
        host.take(request, from: client, app: app, name: "A", isTerminal: terminal, at: now)
    }

    mutating func arrive(_ content: RelayContent, id: UUID = UUID(), deadline: Int64? = 1000) throws -> [Host.Directive]
    {
        host.received(
            .route(RelayRoute(peer: "9", id: id, deadline: deadline, body: try content.encoded())), at: 0)
    }

    func answers(_ directives: [Host.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .tell(_, .answered(_, _, let outcome)) = $0 { outcome } else { nil } }
    }

    func replies(_ directives: [Host.Directive]) throws -> [RelayOutcome] {
        try directives.compactMap {
            guard case .send(.route(let route)) = $0, case .outcome(_, let outcome) = try RelayContent(route.body)
            else { return nil }
            return outcome
        }
    }

    static func call(_ id: UUID = UUID(), _ message: RelayMap = [:]) -> RelayRequest {
        .command(request: 5, id: id, device: "9", deadline: 500, .call(app: "x", service: "s", message: message))
    }

    private func receive(_ directives: [Host.Directive]) -> [RelayNotice] {
        directives.compactMap { if case .tell(7, let notice) = $0 { notice } else { nil } }
    }

    @Test("A watcher hears of a device once its apps are told, and of the end of the list after that")
    mutating func describing() {
        connect()
        ask(.watch(request: 1), client: 7)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        var other = RelayDevice(id: "5", name: "other", kind: "phone")
        var there = Self.there
        let again = host.received(
            .welcome(device: "1", revision: 4, devices: [here, other, there], undescribed: ["5", "9"]), at: 0)
        #expect(receive(again).isEmpty)
        there.apps = [RelayApp(id: "a.b", name: "A")]
        #expect(receive(host.received(.changed(revision: 4, there), at: 0)) == [.updated(Self.reached(there))])
        _ = host.sessionClosed(at: 0)
        _ = host.sessionOpened(at: 0)
        let anew = host.received(
            .welcome(device: "1", revision: 4, devices: [here, other, Self.there], undescribed: ["5"]), at: 0)
        #expect(receive(anew) == [.updated(Self.reached(Self.there))])
        other.apps = there.apps
        #expect(
            receive(host.received(.changed(revision: 4, other), at: 0))
                == [.added(Self.reached(other)), .enumerationCompleted])
    }

    @Test("Of two processes of an app each watches for itself, and the last to publish is asked")
    mutating func processes() throws {
        connect()
        for client in [7, 8] as [ClientNumber] {
            let told = ask(.watch(request: 1), client: client)
            #expect(told.contains(.tell(client, .added(Self.reached(Self.there)))))
            let services = [RelayService(name: "s", access: .sameUser)]
            ask(.publish(request: 2, services: services, schemes: ["todo"], attributes: [:]), client: client)
        }
        func asked(_ content: RelayContent) throws -> [ClientNumber] {
            try arrive(content).compactMap { if case .tell(let client, _) = $0 { client } else { nil } }
        }
        let call = RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "c", message: [:]))
        let launch = RelayContent.launch(RelayLaunch(uri: "todo:1", caller: "c"))
        #expect(try asked(call) == [8])
        #expect(try asked(launch) == [8])
        _ = host.removeClient(8, at: 0)
        #expect(try asked(call) == [7])
        let away = host.received(.removed(revision: 2, device: "9"), at: 0)
        #expect(away.contains(.tell(7, .removed(device: "9"))))
    }

    @Test("A device of this person is found by its id without the server")
    mutating func findingOwn() {
        connect()
        #expect(
            ask(.find(request: 3, device: "9")) == [.tell(1, .found(request: 3, Self.reached(Self.there)))])
        #expect(ask(.find(request: 4, device: "1")) == [.send(.find(device: "1"))], "it is no other device")
    }

    @Test(
        "A watcher with filters hears only of what passes one: a device that comes to it is added, one that leaves it removed"
    )
    mutating func filters() {
        var phones = RelayDeviceFilter()
        phones.narrow(kinds: ["phone"])
        phones.isAvailable = true
        var televisions = RelayDeviceFilter()
        televisions.narrow(kinds: ["tv"])
        connect()
        let first = receive(ask(.watch(request: 1, filters: [phones, televisions]), client: 7))
        #expect(first.dropFirst() == [.added(Self.reached(Self.there)), .enumerationCompleted])
        let other = RelayDevice(id: "5", name: "other", kind: "desktop")
        #expect(receive(host.received(.changed(revision: 2, other), at: 0)).isEmpty)
        var there = Self.there
        there.presence = .offline
        #expect(receive(host.received(.changed(revision: 3, there), at: 0)) == [.removed(device: "9")])
        #expect(receive(host.received(.changed(revision: 4, Self.there), at: 0)) == [.added(Self.reached(Self.there))])
        #expect(receive(host.received(.removed(revision: 5, device: "5"), at: 0)).isEmpty)
        let all = receive(ask(.watch(request: 2), client: 7))
        #expect(all.dropFirst() == [.added(Self.reached(Self.there)), .enumerationCompleted])
    }

    private static func reached(_ device: RelayDevice) -> RelayDevice {
        var device = device
        device.reach = .relay
        return device
    }

    @Test("At the deadline of what waits for a device to be woken, the server has the word, a little later")
    mutating func serversWord() {
        var there = Self.there
        there.presence = .wakeable
        for hasWord in [true, false] {
            connect()
            _ = host.received(.changed(revision: 2, there), at: 0)
            let id = UUID()
            ask(Self.call(id))
            #expect(answers(host.due(at: 500)).isEmpty)
            let word = hasWord ? host.received(.undelivered(id: id, .asleep), at: 501) : host.due(at: 1000)
            #expect(answers(word).map(\.status) == [hasWord ? .expired : .outcomeUnknown])
        }
    }

    @Test("What is under way to a device that is gone from a new list ends")
    mutating func goneMeanwhile() {
        connect()
        ask(Self.call())
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        let told = host.received(.welcome(device: "1", revision: 9, devices: [here]), at: 1)
        #expect(answers(told).map(\.status) == [.outcomeUnknown])
    }

    @Test("Apps that tell more of themselves than a frame holds are refused where they do")
    mutating func tooMuch() {
        let attributes = ["x": String(repeating: "y", count: 4000)]
        let statuses = (0..<90).flatMap { number in
            answers(
                ask(
                    .publish(request: 1, services: [], schemes: [], attributes: attributes),
                    client: ClientNumber(integerLiteral: number),
                    app: "a\(number)"))
        }.map(\.status)
        #expect(statuses.count == 90 && statuses.first == .success)
        #expect(statuses.filter { $0 == .tooLarge }.isEmpty)
        let services = (0..<32).map {
            RelayService(name: "\($0)" + String(repeating: "s", count: 200), access: .sameUser)
        }
        let more = (0..<60).flatMap { number in
            answers(
                ask(
                    .publish(request: 1, services: services, schemes: [], attributes: attributes),
                    client: ClientNumber(integerLiteral: number),
                    app: "a\(number)"))
        }.map(\.status)
        #expect(more.first == .success && more.last == .tooLarge)
    }

    @Test(
        "What can never be called or opened is not published",
        arguments: [
            ([""], [], "a service has no name"), (["s"], ["a b"], "a b is no scheme"), (["s"], [""], "is no scheme"),
            (["s"], ["FILE"], "addresses of the scheme file are never opened"),
            (["s"], ["mailto", "x:"], "x: is no scheme"),
            (["s"], ["*", "Mailto"], nil),
        ] as [([String], [String], String?)])
    mutating func nothingThatCanBeOffered(_ services: [String], _ schemes: [String], _ complaint: String?) throws {
        connect()
        let outcome = try #require(
            answers(
                ask(
                    .publish(
                        request: 1, services: services.map { RelayService(name: $0, access: .sameUser) },
                        schemes: schemes, attributes: [:]))
            ).first)
        #expect(outcome.status == (complaint == nil ? .success : .failed))
        if let complaint { #expect(outcome.detail?.contains(complaint) == true) }
    }

    @Test("Without a session nothing leaves, and the asker is told so")
    mutating func offline() {
        let directives = ask(Self.call())
        #expect(answers(directives).map(\.status) == [.networkUnavailable])
        #expect(directives.count == 1)
    }

    @Test("A device that is away, or that there is none of, is told before anything leaves")
    mutating func absent() {
        connect()
        var away = Self.there
        away.presence = .offline
        _ = host.received(.changed(revision: 2, away), at: 0)
        #expect(answers(ask(Self.call())).map(\.status) == [.notDelivered])
        let unknown = RelayRequest.command(
            request: 1, id: nil, device: "77", deadline: nil, .open(app: "x", service: "s"))
        #expect(answers(ask(unknown)).map(\.status) == [.unknownDevice])
    }

    @Test(
        "That it did not arrive and that nobody knows are different answers",
        arguments: [
            (.undelivered(id: id, .unavailable), .notDelivered), (.undelivered(id: id, .expired), .expired),
            (.undelivered(id: id, .begunAnew), .outcomeUnknown),
            (.interrupted(device: "9"), .outcomeUnknown), (.removed(revision: 2, device: "9"), .outcomeUnknown),
        ] as [(RelayFrame, RelayStatus)])
    mutating func ends(_ frame: RelayFrame, _ status: RelayStatus) {
        connect()
        ask(Self.call(Self.id))
        #expect(answers(host.received(frame, at: 1)).map(\.status) == [status])
        #expect(answers(host.received(frame, at: 2)).isEmpty)
    }
    static let id = UUID()

    @Test("The loss of the session, and the deadline, leave the outcome unknown")
    mutating func lost() {
        connect()
        ask(Self.call())
        #expect(answers(host.due(at: 499)).isEmpty)
        #expect(answers(host.due(at: 500)).map(\.status) == [.outcomeUnknown])
        ask(Self.call())
        #expect(answers(host.sessionClosed(at: 1)).map(\.status) == [.outcomeUnknown])
    }

    @Test("A question reaches the app that offers the service, and its answer the asker, once")
    mutating func serving() throws {
        connect()
        ask(.publish(request: 1, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:]))
        let id = UUID()
        let content = RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "c", message: ["q": 1]))
        let asked = try arrive(content, id: id)
        guard case .tell(1, .asked(let number, id, "9", 1000, let call))? = asked.first else {
            return #expect(Bool(false), "nobody is asked: \(asked)")
        }
        #expect(call.message == ["q": 1])
        #expect(try replies(arrive(content, id: id)).isEmpty)
        #expect(ask(.answer(call: number, RelayOutcome(.success)), client: 2).isEmpty)
        let answered = try replies(ask(.answer(call: number, RelayOutcome(.success, message: ["a": 2]))))
        #expect(answered.map(\.message) == [["a": 2]])
        #expect(try replies(ask(.answer(call: number, RelayOutcome(.failed)))).isEmpty)
        #expect(try replies(arrive(content, id: id)).map(\.message) == [["a": 2]])
    }

    private mutating func manage(_ management: RelayManagement) -> RelayMap {
        let told = ask(.manage(request: 9, management), client: 2, app: "t", terminal: true)
        return told.lazy.compactMap { if case .tell(2, .managed(9, let answer)) = $0 { answer } else { nil } }.first
            ?? [:]
    }

    private mutating func callStatus() throws -> RelayStatus? {
        try replies(arrive(.call(RelayCall(app: "a.b", service: "s", caller: "c", message: [:])))).first?.status
    }

    @Test("What a person denies is denied until they take it back, whatever the service is open to")
    mutating func denying() throws {
        connect()
        ask(.publish(request: 1, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:]))
        #expect(try callStatus() == nil)
        _ = manage(.deny(device: "9", app: "a.b", service: "s"))
        #expect(try callStatus() == .notAuthorized)
        let listed = manage(.grants(from: 0))
        #expect(
            listed == [
                "count": 1,
                "grants": [
                    ["device": "9", "app": "a.b", "service": "s", "granted": false, "name": "there"]
                ],
            ])
        _ = manage(.grant(device: "9", app: "a.b", service: "s", allowed: false))
        #expect(try callStatus() == nil)
        _ = manage(.deny(device: "*", app: "a.b", service: "s"))
        #expect(try callStatus() == .notAuthorized)
        _ = manage(.grant(device: "9", app: "a.b", service: "s", allowed: true))
        #expect(try callStatus() == nil)
        #expect(manage(.grants(from: 1))["count"] == 2)
    }

    /// Whether the app is asked when the other device calls it.
    private mutating func isCarriedOut(at now: Timestamp) throws -> Bool {
        let body = try RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "c", message: [:])).encoded()
        let told = host.received(
            .route(RelayRoute(peer: "9", id: UUID(), deadline: (now + 1000).rawValue, body: body)), at: now)
        return told.contains { if case .tell(1, _) = $0 { true } else { false } }
    }

    @Test(
        "A grant for a while ends by itself, at its time or with what comes first after it", arguments: [true, false])
    mutating func grantingForAWhile(isAwake: Bool) throws {
        connect()
        ask(.publish(request: 1, services: [RelayService(name: "s", access: .granted)], schemes: [], attributes: [:]))
        let grant = RelayManagement.grant(device: "9", app: "a.b", service: "s", allowed: true, seconds: 60)
        let told = ask(.manage(request: 9, grant), client: 2, app: "t", terminal: true, at: 100)
        #expect(told.contains(.wake(after: 60_000)))
        #expect(try isCarriedOut(at: 60_099))
        if isAwake { _ = host.due(at: 60_100) }
        #expect(try !isCarriedOut(at: 60_100))
        #expect(host.settings.grants.isEmpty && host.settings.grantEnds == nil)
    }

    @Test(
        "A grant for an unlocked screen counts while the screen is known to be unlocked, also over an open connection")
    mutating func grantingUnlocked() throws {
        func grant(_ device: String, needsUnlocked: Bool) -> RelayManagement {
            .grant(device: device, app: "a.b", service: "s", allowed: true, needsUnlocked: needsUnlocked)
        }
        connect()
        ask(.publish(request: 1, services: [RelayService(name: "s", access: .granted)], schemes: [], attributes: [:]))
        _ = manage(grant("9", needsUnlocked: true))
        #expect(
            manage(.grants(from: 0))["grants"] == [
                [
                    "device": "9", "app": "a.b", "service": "s", "granted": true, "name": "there", "unlocked": true,
                ]
            ])
        #expect(try callStatus() == .denied)
        host.screenChanged(isUnlocked: true)
        #expect(try callStatus() == nil)
        let connection = UUID()
        let opened = try replies(arrive(.open(app: "a.b", service: "s", caller: "c"), id: connection))
        #expect(opened.first?.status == .success)
        host.screenChanged(isUnlocked: false)
        let call = RelayCall(app: "a.b", service: "s", caller: "c", connection: connection, message: [:])
        #expect(try replies(arrive(.call(call))).first?.status == .denied)
        // What is granted without that counts beside it; a grant that is given again is as it was given last.
        _ = manage(grant("*", needsUnlocked: false))
        #expect(try callStatus() == nil)
        _ = manage(grant("9", needsUnlocked: false))
        #expect(host.settings.unlockedGrants == nil)
    }

    @Test("A grant for a while becomes one for good, and is taken back; its time has bounds")
    mutating func boundingGrants() {
        func grant(_ seconds: Int64?, allowed: Bool = true) -> RelayManagement {
            .grant(device: "9", app: "a.b", service: "s", allowed: allowed, seconds: seconds)
        }
        connect()
        for last in [grant(nil), grant(nil, allowed: false), .deny(device: "9", app: "a.b", service: "s")] {
            _ = manage(grant(60))
            #expect(
                manage(.grants(from: 0))["grants"] == [
                    [
                        "device": "9", "app": "a.b", "service": "s", "granted": true, "name": "there",
                        "until": .date(milliseconds: 60_000),
                    ]
                ])
            _ = manage(last)
            #expect(host.settings.grantEnds == nil)
        }
        for seconds in [0, -1, RelayManagement.grantSeconds.upperBound + 1, .max] {
            _ = manage(grant(seconds))
            #expect(host.settings.grants.isEmpty)
        }
    }

    @Test("A person sees which commands were given, and takes one back that an app gave")
    mutating func takingBack() throws {
        connect()
        let id = UUID()
        ask(Self.call(id))
        guard case .array(let commands)? = manage(.commands)["commands"],
            case .dictionary(let command)? = commands.first
        else { return #expect(Bool(false), "no command is told") }
        #expect(command["id"] == .uuid(id) && command["life"] == "sent" && command["what"] == "call x/s")
        #expect(answers(ask(.cancel(request: 2, id: id), client: 5, app: "o")).map(\.status) == [.failed])
        let taken = ask(.cancel(request: 2, id: id), client: 2, app: "t", terminal: true)
        #expect(answers(taken).map(\.status) == [.cancelled, .success])
        let entry = taken.lazy.compactMap { if case .note(let entry) = $0 { entry } else { nil } }.first
        #expect(entry?.asker == "a.b" && entry?.id == id && entry?.status == .cancelled && entry?.device == "9")
        let life = ask(.life(request: 3, id: id))
        #expect(life == [.tell(1, .life(request: 3, .cancelled, .cancelled))])
    }

    @Test("An app hears that what it was asked is not wanted any more")
    mutating func unwanted() throws {
        connect()
        ask(.publish(request: 1, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:]))
        let content = RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "c", message: [:]))
        let (id, other) = (UUID(), UUID())
        for id in [id, other] { _ = try arrive(content, id: id) }
        #expect(try arrive(.cancel(command: id)).contains(.tell(1, .cancelled(call: 1))))
        #expect(host.due(at: 1000).contains(.tell(1, .cancelled(call: 2))))
    }

    @Test("What comes after its deadline is not carried out")
    mutating func late() throws {
        connect()
        let ping = RelayContent.call(RelayCall(app: Host.ownApp, service: "ping", caller: "c", message: [:]))
        #expect(try replies(arrive(ping, deadline: 0)).map(\.status) == [.expired])
        #expect(try replies(arrive(ping)).map(\.message) == [["Type": "pong"]])
    }

    @Test("An outcome counts only from the device that was asked")
    mutating func forged() throws {
        connect()
        let id = UUID()
        ask(Self.call(id))
        let body = try RelayContent.outcome(command: id, RelayOutcome(.success)).encoded()
        let forged = host.received(.route(RelayRoute(peer: "8", id: UUID(), deadline: nil, body: body)), at: 0)
        #expect(answers(forged).isEmpty)
        #expect(answers(try arrive(.outcome(command: id, RelayOutcome(.success)))).map(\.status) == [.success])
    }

    @Test("Only a terminal manages the account, and the account's key is told to nobody else")
    mutating func managing() {
        connect()
        #expect(answers(ask(.manage(request: 1, .showAccount))).map(\.status) == [.notAuthorized])
        let told = ask(.manage(request: 1, .showAccount), client: 2, terminal: true)
        guard case .tell(2, .managed(1, let answer))? = told.first, case .string(let key)? = answer["key"] else {
            return #expect(Bool(false), "no key is told")
        }
        #expect(AccountKey(text: key)?.text == key)
        #expect(!"\(AccountKey())".contains("aldaba-account-"))
    }

    @Test("A device takes another account after it has left the one that it has")
    mutating func moving() throws {
        connect()
        let own = try #require(host.settings.account)
        let key = AccountKey()
        _ = ask(.manage(request: 1, .join(key: key.text)), client: 2, terminal: true)
        #expect(host.settings.account == own)
        _ = ask(.manage(request: 2, .join(key: own.text)), client: 2, terminal: true)
        #expect(host.settings.account == own)
        var sent: [RelayFrame] = []
        for (number, said) in [(3, RelayManagement.leave), (4, .join(key: key.text))] {
            sent += ask(.manage(request: Int64(number), said), client: 2, terminal: true)
                .compactMap { if case .send(let frame) = $0 { frame } else { nil } }
        }
        #expect(host.settings.account == key)
        #expect(sent.contains(.goodbye))
        guard case .hello? = sent.last else { return #expect(Bool(false), "it joins nothing") }
    }

    @Test(
        "A name is one line that shows something",
        arguments: [
            ("desk", true), ("Mariá's 💻", true), ("", false), (" \u{2003}", false), ("a\nb", false),
            ("\u{1b}[31mred", false), (String(repeating: "a", count: 256), false),
        ])
    mutating func names(_ name: String, _ isTaken: Bool) {
        connect()
        _ = ask(.manage(request: 1, .rename(name)), client: 2, terminal: true)
        #expect((host.settings.name == name) == isTaken)
    }

    @Test(
        "A scheme is allowed or forbidden only where that has an effect",
        arguments: [
            ("mailto", true, true), ("MAILTO", true, true), ("a b", true, false), ("", true, false),
            ("x:", true, false),
            ("file", true, false), ("http", false, false), ("mailto", false, true),
        ])
    mutating func schemes(_ scheme: String, _ isAllowed: Bool, _ isTaken: Bool) {
        connect()
        let told = ask(.manage(request: 1, .scheme(scheme, allowed: isAllowed)), client: 2, terminal: true)
        let isRefused = told.contains { if case .tell(2, .answered) = $0 { true } else { false } }
        #expect(isRefused != isTaken)
        #expect(host.settings.schemes == (isAllowed && isTaken ? ["mailto"] : []))
    }
}
