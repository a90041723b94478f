import AgentProtocol
import NIOCore
import Networking
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The rule of fetching, event by event.
struct MediaFetchTests {
    private static let publicAddress = address("93.184.216.34")
    private static let privateAddress = address("10.0.0.1")

    private static func address(_ text: String) -> SocketAddress {
        do { return try SocketAddress(ipAddress: text, port: 443) } catch { fatalError("\(error)") }
    }

    private func fetch(
        _ url: String = "https://example.com/a", hint: String? = nil, allowsHTTP: Bool = false,
        kept: MediaFetch.Kept? = nil
    ) throws -> MediaFetch {
        try MediaFetch(
            MediaRequest(url: url, typeHint: hint), rules: .init(allowsHTTP: allowsHTTP), kept: kept)
    }

    /// One that has asked its address for the file.
    private func asked(_ url: String = "https://example.com/a", hint: String? = nil) throws -> MediaFetch {
        var fetch = try fetch(url, hint: hint)
        _ = fetch.begin()
        _ = fetch.handle(.resolved([Self.publicAddress]))
        return fetch
    }

    private func reason(_ directive: MediaFetch.Directive) -> MediaFailure.Reason? {
        if case .fail(let failure) = directive { failure.reason } else { nil }
    }

    @Test func `a file is asked of the address that was checked`() throws {
        var fetch = try fetch()
        let url = try MediaURL("https://example.com/a")
        #expect(fetch.begin() == .resolve(host: "example.com", port: 443))
        #expect(fetch.handle(.resolved([Self.publicAddress])) == .request(url, address: Self.publicAddress, nil))
        #expect(fetch.handle(.responded(MediaResponse(status: 200))) == .receive)
        #expect(fetch.handle(.received(Samples.png[...])) == .receive)
        let kind = try #require(FetchedMediaKind(head: Samples.png, declared: []))
        #expect(fetch.handle(.ended) == .finish(kind, nil, from: url))
        #expect(kind.ending == "png")
    }

    @Test func `of a host's addresses only those are asked that may be`() throws {
        var fetch = try fetch()
        _ = fetch.begin()
        let url = try MediaURL("https://example.com/a")
        #expect(
            fetch.handle(.resolved([Self.privateAddress, Self.publicAddress]))
                == .request(url, address: Self.publicAddress, nil))
        #expect(reason(fetch.handle(.unconnected("refused"))) == .unreachable)
    }

    @Test func `a few of a host's addresses are tried`() throws {
        var fetch = try fetch()
        _ = fetch.begin()
        let all = (1...9).map { Self.address("93.184.216.\($0)") }
        let url = try MediaURL("https://example.com/a")
        var directive = fetch.handle(.resolved(all))
        for address in all.prefix(MediaFetch.addressLimit) {
            #expect(directive == .request(url, address: address, nil))
            directive = fetch.handle(.unconnected("refused"))
        }
        #expect(reason(directive) == .unreachable)
    }

    @Test(arguments: ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fe80::1", "64:ff9b::7f00:1"])
    func `a host whose addresses are private is refused`(address: String) throws {
        var fetch = try fetch()
        _ = fetch.begin()
        #expect(reason(fetch.handle(.resolved([Self.address(address)]))) == .refusedAddress)
    }

    @Test(
        arguments: [
            ("https://127.0.0.1:8443/media/a.png", nil),
            ("https://127.0.0.1:8443/v1/timelines", .refusedAddress),
            ("https://127.0.0.1:8444/media/a.png", .refusedAddress),
            ("http://127.0.0.1:8443/media/a.png", .refusedAddress),
        ] as [(String, MediaFailure.Reason?)])
    func `media of the own server may be at a private address, and nothing else`(
        url: String, refused: MediaFailure.Reason?
    ) throws {
        let rules = MediaFetch.Rules(allowsHTTP: true, ownServer: try MediaURL("https://127.0.0.1:8443"))
        var fetch = try MediaFetch(MediaRequest(url: url), rules: rules)
        _ = fetch.begin()
        #expect(reason(fetch.handle(.resolved([Self.privateAddress]))) == refused)
        #expect(fetch.isOwnMedia == (refused == nil))
    }

    @Test func `a redirect of the own server is checked as any other`() throws {
        let rules = MediaFetch.Rules(ownServer: try MediaURL("https://127.0.0.1:8443"))
        var fetch = try MediaFetch(MediaRequest(url: "https://127.0.0.1:8443/media/a.png"), rules: rules)
        _ = fetch.begin()
        _ = fetch.handle(.resolved([Self.privateAddress]))
        _ = fetch.handle(.responded(MediaResponse(status: 302, location: "https://127.0.0.1:9/media/a.png")))
        #expect(!fetch.isOwnMedia)
        #expect(reason(fetch.handle(.resolved([Self.privateAddress]))) == .refusedAddress)
    }

    @Test func `every hop is checked anew`() throws {
        var fetch = try asked()
        #expect(
            fetch.handle(.responded(MediaResponse(status: 302, location: "https://inside.example/")))
                == .resolve(host: "inside.example", port: 443))
        #expect(reason(fetch.handle(.resolved([Self.privateAddress]))) == .refusedAddress)
    }

    @Test func `a host that has become private by the next hop is refused`() throws {
        var fetch = try asked()
        #expect(
            fetch.handle(.responded(MediaResponse(status: 302, location: "/again")))
                == .resolve(host: "example.com", port: 443))
        #expect(reason(fetch.handle(.resolved([Self.privateAddress]))) == .refusedAddress)
    }

    @Test(arguments: [(false, MediaFailure.Reason.notSecure), (true, nil)])
    func `http is for those who allow it, at the first hop and at a later one`(
        allows: Bool, expected: MediaFailure.Reason?
    ) throws {
        var first = try fetch("http://example.com/", allowsHTTP: allows)
        #expect(reason(first.begin()) == expected)
        var later = try fetch(allowsHTTP: allows)
        _ = later.begin()
        _ = later.handle(.resolved([Self.publicAddress]))
        let response = MediaResponse(status: 301, location: "http://example.com/")
        #expect(reason(later.handle(.responded(response))) == expected)
    }

    @Test func `five redirects are followed, and no sixth`() throws {
        var fetch = try fetch()
        _ = fetch.begin()
        var directive = MediaFetch.Directive.receive
        for hop in 1...6 {
            _ = fetch.handle(.resolved([Self.publicAddress]))
            directive = fetch.handle(.responded(MediaResponse(status: 307, location: "/\(hop)")))
            if hop <= 5 { #expect(directive == .resolve(host: "example.com", port: 443)) }
        }
        #expect(reason(directive) == .tooManyRedirects)
    }

    @Test(arguments: [
        (MediaResponse(status: 404), "notFound(404)"), (MediaResponse(status: 500), "notFound(500)"),
        (MediaResponse(status: 204), "notFound(204)"), (MediaResponse(status: 206), "notFound(206)"),
        (MediaResponse(status: 304), "notFound(304)"), (MediaResponse(status: 302), "notFound(302)"),
        (MediaResponse(status: 302, location: "ftp://h/"), "refusedURL"),
        (MediaResponse(status: 200, length: 52_428_801), "tooLarge"),
        (MediaResponse(status: 200, coding: "gzip"), "notMedia"),
    ])
    func `an answer without the file is its own reason`(response: MediaResponse, code: String) throws {
        var fetch = try asked()
        guard case .fail(let failure) = fetch.handle(.responded(response)) else {
            Issue.record("not refused")
            return
        }
        #expect(failure.code == code)
    }

    @Test(arguments: [
        (Samples.png, 10 << 20), (Samples.jpeg, 10 << 20), (Samples.gif, 10 << 20), (Samples.wave, 5 << 20),
        (Samples.mp3, 5 << 20), (Samples.m4a, 5 << 20), (Samples.mp4, 50 << 20),
    ])
    func `a file may be as large as Apple lets its kind be, said or not`(head: [UInt8], limit: Int) throws {
        var fetch = try asked()
        _ = fetch.handle(.responded(MediaResponse(status: 200)))
        #expect(fetch.handle(.received(head[...])) == .receive)
        #expect(fetch.handle(.received([UInt8](repeating: 0, count: limit - 16)[...])) == .receive)
        #expect(reason(fetch.handle(.received([0]))) == .tooLarge)

        var said = try asked()
        _ = said.handle(.responded(MediaResponse(status: 200, length: Int64(limit + 1))))
        if limit < 50 << 20 { #expect(reason(said.handle(.received(head[...]))) == .tooLarge) }
    }

    @Test(
        arguments: [
            (Samples.png, "text/html", "a.mp3", nil, "png"), (Samples.mp4, "audio/mp4", "a.mp4", nil, "m4a"),
            (Samples.mp4, "application/octet-stream", "a.m4a", nil, "m4a"), (Samples.mp4, nil, "a", "m4a", "m4a"),
            (Samples.mp4, "video/mp4; codecs=avc1", "a.m4a", nil, "mp4"), (Samples.mp4, nil, "a", nil, "mp4"),
            (Samples.mp4, nil, "a.MP4", "m4a", "mp4"), (Samples.jpeg, "image/png", "a.png", "png", "jpg"),
        ] as [([UInt8], String?, String, String?, String)])
    func `bytes decide what a file is, then the MIME type, the extension and the hint`(
        head: [UInt8], type: String?, name: String, hint: String?, ending: String
    ) throws {
        var fetch = try asked("https://example.com/\(name)?x=.gif", hint: hint)
        _ = fetch.handle(.responded(MediaResponse(status: 200, contentType: type)))
        _ = fetch.handle(.received(head[...]))
        guard case .finish(let kind, _, _) = fetch.handle(.ended) else {
            Issue.record("not taken")
            return
        }
        #expect(kind.ending == ending)
    }

    @Test(arguments: [Samples.page, Samples.gzip, [], [0xFF], Array("<svg/>".utf8)])
    func `what is no picture, sound or film is refused whatever it is called`(body: [UInt8]) throws {
        var fetch = try asked("https://example.com/a.jpg", hint: "jpg")
        _ = fetch.handle(.responded(MediaResponse(status: 200, contentType: "image/jpeg")))
        var directive = MediaFetch.Directive.receive
        for byte in body where directive == .receive { directive = fetch.handle(.received([byte])) }
        if directive == .receive { directive = fetch.handle(.ended) }
        #expect(reason(directive) == .notMedia)
    }

    @Test func `a file that is not whole is none`() throws {
        var fetch = try asked()
        _ = fetch.handle(.responded(MediaResponse(status: 200, length: 100)))
        _ = fetch.handle(.received(Samples.png[...]))
        #expect(reason(fetch.handle(.ended)) == .unreachable)
        #expect(reason(fetch.handle(.broken("reset"))) == .unreachable)
    }

    @Test func `what is kept is asked for by its validator, at the address that gave it alone`() throws {
        let validator = try #require(MediaValidator(entityTag: "\"1\"", lastModified: nil))
        let kept = MediaFetch.Kept(source: "https://cdn.example/a", validator: validator)
        var fetch = try fetch(kept: kept)
        _ = fetch.begin()
        let first = try MediaURL("https://example.com/a")
        #expect(fetch.handle(.resolved([Self.publicAddress])) == .request(first, address: Self.publicAddress, nil))
        _ = fetch.handle(.responded(MediaResponse(status: 302, location: "https://cdn.example/a")))
        let second = try MediaURL("https://cdn.example/a")
        #expect(
            fetch.handle(.resolved([Self.publicAddress])) == .request(second, address: Self.publicAddress, validator))
        #expect(fetch.handle(.responded(MediaResponse(status: 304))) == .finishKept)
    }

    @Test func `when the time is up it says so, and how far it came`() throws {
        var fetch = try asked()
        _ = fetch.handle(.responded(MediaResponse(status: 200)))
        _ = fetch.handle(.received(Samples.png[...]))
        let failure = MediaFailure(.tooSlow, "https://example.com took too long, after 16 bytes")
        #expect(fetch.handle(.timedOut) == .fail(failure))
    }
}
