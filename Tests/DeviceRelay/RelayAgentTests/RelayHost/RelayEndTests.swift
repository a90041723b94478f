import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

/// How commands of this device's end, and what is known of them afterwards.
@Suite struct RelayEndTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))

    private mutating func connect() {
        _ = host.sessionOpened(at: 0)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        let there = RelayDevice(id: "9", name: "there", kind: "phone")
        let away = RelayDevice(id: "8", name: "away", kind: "phone", presence: .offline)
        _ = host.received(.welcome(device: "1", revision: 1, devices: [here, there, away]), at: 0)
    }

    @discardableResult private mutating func ask(
        _ request: RelayRequest, terminal: Bool = false, at now: Timestamp = 0
    ) -> [Host.Directive] {
        host.take(request, from: terminal ? 2 : 1, app: "a.b", name: "A", isTerminal: terminal, at: now)
    }

    private mutating func call(_ id: UUID, _ message: RelayMap = [:], service: String = "s", on device: String = "9")
        -> [Host.Directive]
    {
        ask(
            .command(
                request: 1, id: id, device: device, deadline: 1000,
                .call(app: "x", service: service, message: message)))
    }

    private func ends(_ directives: [Host.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .tell(1, .answered(_, _, let outcome)) = $0 { outcome } else { nil } }
    }

    private mutating func answer(_ id: UUID, _ outcome: RelayOutcome) throws -> [Host.Directive] {
        let body = try RelayContent.outcome(command: id, outcome).encoded()
        return host.received(.route(RelayRoute(peer: "9", id: UUID(), deadline: nil, body: body)), at: 0)
    }

    static let mistakes: [RelayOrder] =
        [
            "", "a b", "https://", "https:///etc/passwd", "https://a\u{202E}b/", "https://user:password@a/",
            "file:///etc/passwd", "JavaScript:alert(1)",
        ].map {
            .launch(uri: $0, app: nil, fallback: nil, preferredApps: [])
        } + [
            .launch(uri: "todo:1", app: nil, fallback: "http://a/", preferredApps: []), .open(app: "x", service: ""),
            .open(app: "", service: "s"), .call(app: "x", service: "", message: [:]),
        ]

    @Test("What no device would carry out is refused here, and not sent", arguments: mistakes)
    mutating func refusedHere(_ order: RelayOrder) {
        connect()
        let told = ask(.command(request: 1, id: nil, device: "9", deadline: 1000, order))
        #expect(ends(told).map(\.status) == [.refusedHere])
        #expect(!told.contains { if case .send(.route) = $0 { true } else { false } })
    }

    @Test("The device tells who made it")
    func make() {
        let host = Host(settings: RelaySettings(name: "here"), manufacturer: "LENOVO", model: "21AH")
        #expect(host.describedDevice.manufacturer == "LENOVO" && host.describedDevice.model == "21AH")
    }

    @Test("The life of a command has its detail, also of one that did not arrive")
    mutating func details() throws {
        connect()
        let (id, other) = (UUID(), UUID())
        _ = call(id)
        _ = try answer(id, RelayOutcome(.failed, detail: "I do not want to"))
        #expect(ask(.life(request: 3, id: id)) == [.tell(1, .life(request: 3, .failed, .failed, "I do not want to"))])
        #expect(ends(call(other, on: "8")).map(\.status) == [.notDelivered])
        #expect(
            ask(.life(request: 4, id: other))
                == [.tell(1, .life(request: 4, .failed, .notDelivered, "away is not connected"))])
    }

    @Test("An id is of one command: another under it is refused, the same is asked again")
    mutating func ids() throws {
        connect()
        let id = UUID()
        _ = call(id, ["n": 1])
        _ = try answer(id, RelayOutcome(.success))
        for directives in [call(id, ["n": 2]), call(id, ["n": 1], service: "t"), call(id, ["n": 1], on: "8")] {
            #expect(ends(directives).map(\.status) == [.failed])
            #expect(ends(directives).first?.detail?.contains("another command had this id") ?? false)
        }
        #expect(ask(.life(request: 3, id: id)) == [.tell(1, .life(request: 3, .completed, .success))])
        #expect(ends(call(id, ["n": 1])).isEmpty)
    }

    @Test("The id of what was not done for certain may be given to another")
    mutating func idsOfNothing() {
        connect()
        let id = UUID()
        #expect(ends(call(id, ["n": 1], on: "8")).map(\.status) == [.notDelivered])
        #expect(ends(call(id, ["n": 2])).isEmpty)
    }

    @Test("What was sent has an unknown outcome once this device has left its account, or was taken out")
    mutating func leaving() {
        for isDismissed in [true, false] {
            host = Host(settings: RelaySettings(name: "here", account: AccountKey()))
            connect()
            _ = call(UUID())
            let directives =
                isDismissed
                ? host.received(.removed(revision: 2, device: "1"), at: 1)
                : ask(.manage(request: 2, .leave), terminal: true, at: 1)
            #expect(ends(directives).map(\.status) == [.outcomeUnknown])
            #expect(ends(directives).first?.detail?.contains("account") ?? false)
        }
    }

    @Test("An app hears that nobody waits when the device that asked has left")
    mutating func leftThere() throws {
        connect()
        let service = RelayService(name: "s", access: .sameUser)
        ask(.publish(request: 1, services: [service], schemes: [], attributes: [:]))
        let content = RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "c", message: [:]))
        let asked = host.received(
            .route(RelayRoute(peer: "9", id: UUID(), deadline: 1000, body: try content.encoded())), at: 0)
        let number = try #require(
            asked.compactMap { if case .tell(1, .asked(let number, _, _, _, _)) = $0 { number } else { nil } }.first)
        let removed = host.received(.removed(revision: 2, device: "9"), at: 1)
        #expect(removed.contains(.tell(1, .cancelled(call: number))))
    }

    // MARK: Addresses

    private mutating func opened(_ launch: RelayLaunch) throws -> (
        opens: [String], starts: [String], ends: [RelayStatus]
    ) {
        let body = try RelayContent.launch(launch).encoded()
        var directives = host.received(.route(RelayRoute(peer: "9", id: UUID(), deadline: 9000, body: body)), at: 0)
        if case .findOpener(let ticket, let scheme, _)? = directives.first {
            // This desktop has a program for one scheme that its owner has not allowed.
            directives = host.foundOpener(ticket, scheme: scheme, isPresent: scheme == "spotify", at: 0)
        }
        return (
            directives.compactMap { if case .open(_, let uri, _) = $0 { uri } else { nil } },
            directives.compactMap { if case .start(let app) = $0 { app } else { nil } },
            try directives.compactMap {
                guard case .send(.route(let route)) = $0, case .outcome(_, let outcome) = try RelayContent(route.body)
                else { return nil }
                return outcome.status
            }
        )
    }

    @Test("An app that publishes opens the schemes that it names, and no other", arguments: ["tel:1", "http://a/"])
    mutating func schemesOfAnApp(_ uri: String) throws {
        connect()
        ask(.publish(request: 1, services: [], schemes: ["todo"], attributes: [:]))
        let launch = RelayLaunch(uri: uri, app: "a.b", caller: "c")
        #expect(try opened(launch).ends == [.protocolUnavailable])
        _ = host.removeClient(1, at: 0)
        #expect(try opened(launch).ends == [.protocolUnavailable])
        // Another app may be one that the session bus starts.
        let other = try opened(RelayLaunch(uri: uri, app: "b.b", caller: "c"))
        #expect(other.ends == (uri == "tel:1" ? [.protocolUnavailable] : []))
    }

    @Test("Where a scheme is not allowed the fallback is opened; without one it is denied, or has no app")
    mutating func fallback() throws {
        connect()
        let page = "https://example.org/"
        let refused = try opened(RelayLaunch(uri: "spotify:1", fallback: page, caller: "c"))
        #expect(refused.opens == [page] && refused.ends.isEmpty)
        #expect(try opened(RelayLaunch(uri: "spotify:1", caller: "c")).ends == [.denied])
        #expect(try opened(RelayLaunch(uri: "tel:1", caller: "c")).ends == [.protocolUnavailable])
        #expect(try opened(RelayLaunch(uri: "tel:1", fallback: page, caller: "c")).opens == [page])
        #expect(try opened(RelayLaunch(uri: "file:///etc/passwd", caller: "c")).ends == [.denied])
        #expect(try opened(RelayLaunch(uri: "spotify:1", fallback: "spotify:2", caller: "c")).ends == [.denied])
    }

    @Test("An app that does not run is started for http where it is named; else the system opens it")
    mutating func web() throws {
        connect()
        ask(.publish(request: 1, services: [], schemes: ["http", "todo"], attributes: [:]))
        _ = host.removeClient(1, at: 0)
        let page = "http://example.org/"
        let unnamed = try opened(RelayLaunch(uri: page, caller: "c"))
        #expect(unnamed.opens == [page] && unnamed.starts.isEmpty)
        #expect(try opened(RelayLaunch(uri: "todo:1", caller: "c")).starts == ["a.b"])
        ask(.publish(request: 1, services: [], schemes: ["http", "todo"], attributes: [:]))
        _ = host.removeClient(1, at: 0)
        #expect(try opened(RelayLaunch(uri: page, app: "a.b", caller: "c")).starts == ["a.b"])
    }
}
