import PushCore
import Testing

private let names = ServerNames(
    ["Push.example", "192.0.2.1", "::1", "other.example:9443", "[2001:db8::1]:9443", "*.wide.example", "not a name"],
    ports: [8443])

@Test(arguments: [
    ("https://push.example", true), ("HTTPS://PUSH.EXAMPLE", true), ("https://push.example:443", true),
    ("https://push.example:8443", true), ("http://push.example", true), ("http://push.example:80", true),
    ("https://push.example:80", false), ("https://push.example:9443", false), ("https://push.example.evil", false),
    ("https://evil.push.example", false), ("https://192.0.2.1:8443", true), ("https://192.0.2.2:8443", false),
    ("https://[::1]:8443", true), ("https://[::1]", true), ("https://other.example:9443", true),
    ("https://other.example", false), ("https://other.example:8443", false), ("https://[2001:db8::1]:9443", true),
    ("https://a.wide.example:8443", true), ("https://wide.example", false), ("https://a.b.wide.example", false),
    // Texts that are no origins.
    ("push.example", false), ("ftp://push.example", false), ("https://", false), ("https://push.example/", false),
    ("https://push.example@evil", false), ("https://user@push.example", false), ("https://push.example:", false),
    ("https://push.example:+443", false), ("https://push.example:99999", false), ("", false),
    ("https://not a name", false),
])
func `an origin is the server's by its host and its port`(origin: String, isOurs: Bool) {
    #expect(names.include(origin: origin) == isOurs)
}

@Test(arguments: [
    ("push.example", true), ("PUSH.example", true), ("other.example", true), ("[::1]", true), ("::1", true),
    ("a.wide.example", true), ("evil.example", false), ("push.example:8443", false), ("*.wide.example", true),
    ("", false), ("not a name", false),
])
func `a host is the server's at whatever port`(host: String, isOurs: Bool) {
    #expect(names.include(host: host) == isOurs)
}

@Test(arguments: [
    ("push.example", true), ("push.example:1", true), ("[::1]:65535", true), ("::1", true), ("*.example", true),
    ("push.example:0", false), ("push.example:65536", false), ("https://push.example", false), ("a/b", false),
    ("*", false), ("a*.example", false), ("", false), ("a b", false),
])
func `a name is a host, with a port or without`(text: String, isName: Bool) {
    #expect(ServerNames.isName(text) == isName)
}

@Test func `a server without names is meant by nobody`() {
    let none = ServerNames([String](), ports: [8443])
    #expect(!none.include(origin: "https://push.example") && !none.include(host: "push.example"))
}
