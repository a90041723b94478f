import Hummingbird
import Testing

@testable import ControlAPI

private typealias Guard = LoopbackGuard<BasicRequestContext>

@Test(arguments: [
    ("localhost:8080", nil, true), ("LOCALHOST:8080", nil, true), ("127.0.0.1:8080", nil, true),
    ("[::1]:8080", nil, true), ("[::1]:8080", "http://[::1]:8080", true), ("localhost", nil, false),
    ("localhost:8081", nil, false), ("evil.example:8080", nil, false), ("localhost.evil.example:8080", nil, false),
    (nil, nil, false), ("localhost:8080", "http://evil.example", false), ("localhost:8080", "null", false),
    ("localhost:8080", "https://localhost:8080", false), ("localhost:8080", "http://127.0.0.1:8080", false),
])
func `host and origin decide who comes in`(host: String?, origin: String?, allowed: Bool) {
    #expect(Guard.allows(host: host, origin: origin, port: 8080) == allowed)
}
