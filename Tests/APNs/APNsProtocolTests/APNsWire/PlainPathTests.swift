import APNsProtocol
import Testing

@Suite struct PlainPathTests {
    @Test(arguments: [
        ("/v1/projects/p/messages%3Asend", "/v1/projects/p/messages:send"), ("/%76%31/media", "/v1/media"),
        ("/v1/%7euser", "/v1/~user"), ("/a%2Fb", "/a%2Fb"), ("/a%20b", "/a%20b"), ("/a%252Eb", "/a%252Eb"),
        ("/a?q=%41", "/a?q=%41"), ("/a%", "/a%"), ("/a%4", "/a%4"), ("/a%zz", "/a%zz"), ("/%c3%a9", "/%c3%a9"),
        ("", ""),
    ])
    func `a path has no encoding that it does not need`(sent: String, plain: String) {
        #expect(PlainPath.bytes(sent.utf8) == Array(plain.utf8))
    }
}
