import AldabaTestSupport
import NIOHTTP1
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// What a browser's connection takes from its request: the host, and the enrolment key.
@Suite(.timeLimit(.minutes(2))) struct AutopushOriginTests {
    private func origin(uri: String = "/", hosts: [String] = []) -> AutopushConnection.Origin {
        let headers = HTTPHeaders(hosts.map { ("Host", $0) })
        return .init(
            HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers), isSecured: true)
    }

    @Test(arguments: [
        "push.example", "push.example:8443", "PUSH.Example", "127.0.0.1:5229", "[::1]:8443", "[fe80::1]", "my_host-1",
        String(repeating: "a", count: 255),
    ])
    func `a host is taken as it was named`(host: String) {
        #expect(origin(hosts: [host]).host == host)
    }

    @Test(arguments: [
        "", "push.example/path", "user@push.example", "push.example?x", "push.example#x", "a b", "a\tb", "a\"b", "<b>",
        "a%2fb", "a\\b", "bücher.example", "a,b", "fe80::1%eth0", "a\u{0}b", String(repeating: "a", count: 256),
        String(repeating: "ü", count: 128),
    ])
    func `a host that could change the address of a subscription is none`(host: String) {
        #expect(origin(hosts: [host]).host.isEmpty)
    }

    @Test func `no host is none, and of two the first counts`() {
        #expect(origin().host.isEmpty)
        #expect(origin(hosts: ["a.example", "b.example"]).host == "a.example")
        #expect(origin(hosts: ["a/", "b.example"]).host.isEmpty)
    }

    @Test(
        arguments: [
            ("/", nil), ("", nil), ("/?", nil), ("/?key", nil), ("/?Key=a", nil), ("/?monkey=a", nil), ("/key=a", nil),
            ("/?key=", ""), ("/?key=a", "a"), ("/a/b?key=a", "a"), ("/?x=1&key=a&y=2", "a"), ("/?key=a&key=b", "a"),
            ("/?key=a=b", "a=b"), ("/?key=a?b", "a?b"), ("/?key=a%20b%26c%3D", "a b&c="), ("/?key=%C3%BC", "ü"),
            ("/?key=a+b", "a+b"), ("/?key=%", nil), ("/?key=%zz", nil), ("/?key=%FF", nil),
        ] as [(String, String?)])
    func `the key is that of the query, decoded once`(uri: String, key: String?) {
        #expect(origin(uri: uri).key == key)
    }

    @Test func `a key is not shown with the origin of a connection, nor an id's secret with it`() async throws {
        let text = shown(origin(uri: "/?key=Sesame-4711", hosts: ["push.example"]))
        #expect(text.contains("push.example") && !text.contains("Sesame"))
        try await withBrowsers { world in
            let browser = try await world.connect(uri: "/?key=Sesame-4711")
            let id = try await browser.hello()
            let seen = Watched("")
            browser.port.onLoop { connection in
                let text = shown(connection.origin) + shown(connection.credentials as Any)
                seen.change { $0 = text }
            }
            await browser.run()
            let text = seen.value
            #expect(text.contains("push.example") && text.contains("\(id.device)"))
            #expect(!text.contains("Sesame") && !text.contains("\(id.secret)"))
        }
    }

    @Test(arguments: [
        ("push.example:8443", false, "http://push.example:8443"), ("[::1]:8443", true, "https://[::1]:8443"),
        ("evil.example/x?", true, "https://default"), ("", false, "http://default"),
    ])
    func `the address of a subscription has the origin of the connection`(
        host: String, isSecured: Bool, root: String
    ) async throws {
        try await withBrowsers { world in
            let browser = try await world.connect(host: host, isSecured: isSecured)
            let id = try await browser.hello()
            try await browser.register(channelID(1))
            let answer = try JSONValue(text: try #require(await browser.texts(2).last))
            let address = try #require(answer["pushEndpoint"]?.text)
            #expect(address.hasPrefix(root + "/wpush/v2/"))
            let component = String(address.dropFirst((root + "/wpush/v2/").count))
            #expect(world.sealer.open(component) == .init(device: id.device, channel: channelID(1)))
        }
    }
}
