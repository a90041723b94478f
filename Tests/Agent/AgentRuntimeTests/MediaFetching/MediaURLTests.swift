import AgentProtocol
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct MediaURLTests {
    @Test(arguments: [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM/A.PNG?q=1#part", "https://example.com/A.PNG?q=1"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:/a", "https://example.com/a"),
        ("http://example.com:8080/a", "http://example.com:8080/a"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://[2001:DB8::1]:8443/a", "https://[2001:db8::1]:8443/a"),
        ("https://example.com/Kühe und Katzen.jpg", "https://example.com/K%C3%BChe%20und%20Katzen.jpg"),
        ("https://example.com/a%20b\"<>", "https://example.com/a%20b%22%3C%3E"),
        ("https://127.1/a", "https://127.1/a"),
        ("https://a_b.example/", "https://a_b.example/"),
        ("https://xn--mnchen-3ya.example/", "https://xn--mnchen-3ya.example/"),
    ])
    func `an address has one spelling`(text: String, expected: String) throws {
        let url = try MediaURL(text)
        #expect(url.description == expected)
        #expect(try MediaURL(url.description) == url)
    }

    @Test(arguments: [
        "", "example.com/a.png", "/a.png", "ftp://example.com/a", "file:///etc/passwd", "data:image/png;base64,AA",
        "https:/example.com", "https://", "https:///a", "https://user@example.com/", "https://a:b@example.com/",
        "https://example.com@127.0.0.1/", "https://exa mple.com/", "https://example.com\\@127.0.0.1/",
        "https://münchen.example/", "https://example.com:0/", "https://example.com:65536/", "https://example.com:+80/",
        "https://example.com:80:80/", "https://[::1/", "https://[::1]x/", "https://[127.0.0.1]/",
        "https://[fe80::1%25eth0]/", "https://[28::\0\0x]/", "https://example.com\0/",
        "https://exam%70le.com/", "https://\n/", "https://" + String(repeating: "a", count: 254) + "/",
        "https://example.com/" + String(repeating: "a", count: 4096),
    ])
    func `what is no address to fetch is refused with words`(text: String) throws {
        let failure = try #require(throws: MediaFailure.self) { try MediaURL(text) }
        #expect(failure.reason == .refusedURL)
        #expect(!failure.message.isEmpty && failure.message.utf8.count < 300)
    }

    @Test(arguments: [
        ("https://other.example/x", "https://other.example/x"), ("//other.example/x", "https://other.example/x"),
        ("/x", "https://example.com/x"), ("x.png", "https://example.com/a/x.png"),
        ("?r=2", "https://example.com/a/b?r=2"), ("", "https://example.com/a/b?q=1"),
        ("#f", "https://example.com/a/b?q=1"), ("x?u=http://h/", "https://example.com/a/x?u=http://h/"),
        ("http://example.com/", "http://example.com/"),
    ])
    func `a redirect leads where it says`(location: String, expected: String) throws {
        #expect(try MediaURL("https://example.com/a/b?q=1").redirected(to: location).description == expected)
    }

    @Test(arguments: ["javascript:alert(1)", "file:///etc/passwd", "//user@h/", "gopher://h/"])
    func `a redirect to what cannot be fetched is refused`(location: String) throws {
        let url = try MediaURL("https://example.com/")
        #expect(throws: MediaFailure.self) { try url.redirected(to: location) }
    }

    @Test func `a log learns the host and not what its owner alone should know`() throws {
        #expect(try MediaURL("https://example.com:8443/a?token=secret").origin == "https://example.com:8443")
    }
}
