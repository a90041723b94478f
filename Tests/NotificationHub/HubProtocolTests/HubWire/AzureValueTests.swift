import PushCore
import Testing

@testable import HubProtocol

/// Signatures as the clients of five languages make them: what they sign differs, and so does the case of their escapes.
@Test(arguments: [
    ("http%3a%2f%2f127.0.0.1%2ftodo%2fmessages%2f", true), ("https%3A%2F%2F127.0.0.1%3A8443%2F", true),
    ("https%3a%2f%2f127.0.0.1%3a8443%2ftodo", true), ("https%3A%2F%2F127.0.0.1", true),
    ("https%3a%2f%2f127.0.0.1%2ftodo%2fmessages%3fapi-version%3d2020-06", true),
    ("https%3a%2f%2f127.0.0.1%2ftod", false), ("https%3a%2f%2f127.0.0.2%2f", false),
    ("127.0.0.1%2ftodo%2fother", false),
])
func `a signature covers a host of the server's and the beginning of the path`(resource: String, expected: Bool) throws
{
    let signature = try #require(
        SharedAccessSignature(authorization: "SharedAccessSignature sr=\(resource)&sig=AAAA&se=1&skn=k"))
    #expect(signature.covers(path: "/ToDo/messages/") { $0 == "127.0.0.1" } == expected)
}

@Test func `a signature is genuine under its own key alone`() throws {
    let text = SharedAccessSignature.authorization(
        resource: "https://127.0.0.1:1/", expiresAt: 2_000_000_000, keyName: "a key", key: "c2VjcmV0")
    let signature = try #require(SharedAccessSignature(authorization: text))
    #expect(signature.keyName == "a key")
    #expect(signature.expiresAt == 2_000_000_000)
    #expect(signature.isGenuine(key: "c2VjcmV0"))
    #expect(!signature.isGenuine(key: "c2VjcmV1"))
    var later = signature
    later.expiry = "2000000001"
    #expect(!later.isGenuine(key: "c2VjcmV0"))
    var shorter = signature
    shorter.signature.removeLast()
    #expect(!shorter.isGenuine(key: "c2VjcmV0"))
}

/// Made with the reference algorithm in Python: HMAC-SHA256 of the encoded resource, a line feed and the instant.
@Test func `a signature that another program made is genuine`() throws {
    let text =
        "SharedAccessSignature sig=wsHENgVeovIriwh7IbVzsnc5EddoHup3bQQQh9fl4c0%3D&se=1900000000&skn=Full&sr=https%3a%2f%2f127.0.0.1%3a8443%2ftodo"
    let signature = try #require(SharedAccessSignature(authorization: text))
    #expect(signature.isGenuine(key: "a2V5"))
}

@Test(arguments: [
    "", "Bearer x", "SharedAccessSignature ", "SharedAccessSignature sr=a&sig=AAAA&se=1",
    "SharedAccessSignature sr=a&sig=%%%&se=1&skn=k", "SharedAccessSignature sr=a&sr=b&sig=AAAA&se=1&skn=k",
    "SharedAccessSignature sr&sig&se&skn",
])
func `what is no signature is not read as one`(text: String) {
    #expect(SharedAccessSignature(authorization: text) == nil)
}

@Test(arguments: [
    ("2030-01-01T00:00:00", 1_893_456_000_000), ("2030-01-01T00:00:00.000Z", 1_893_456_000_000),
    ("2030-01-01T00:00:00+00:00", 1_893_456_000_000), ("2030-01-01'T'00:00:00", 1_893_456_000_000),
    ("2030-01-01T02:00+0200", 1_893_456_000_000), ("2030-01-01T00:00:00.1234567Z", 1_893_456_000_123),
    ("2028-02-29", 1_835_395_200_000), ("1969-12-31T23:59:59Z", -1000),
])
func `an instant is read in every spelling that clients send`(text: String, milliseconds: Int64) {
    #expect(WireTime.read(text) == Timestamp(rawValue: milliseconds))
}

@Test(arguments: [
    "", "2030", "2030-13-01", "2030-02-29", "2030-01-01T24:00", "2030-01-01T00:00:00x", "2030-01-01T00:00:00+1",
])
func `what is no instant is refused`(text: String) {
    #expect(WireTime.read(text) == nil)
}

@Test(arguments: [
    (#"[{"op":"add","path":"/tags","value":"new"}]"#, #"["a","b","new"]"#),
    (#"[{"op":"add","path":"/tags","value":["c","d"]}]"#, #"["a","b","c","d"]"#),
    (#"[{"op":"remove","path":"/tags/A"}]"#, #"["b"]"#),
    (#"[{"op":"remove","path":"/tags/a"},{"op":"remove","path":"/tags/b"}]"#, "null"),
    (#"[{"op":"replace","path":"/tags","value":["x"]}]"#, #"["x"]"#),
    (#"[{"op":"replace","path":"/tags/a","value":"x"}]"#, #"["b","x"]"#),
])
func `tags are patched as Azure patches them`(patch: String, expected: String) throws {
    let document = try JSONValue(text: #"{"installationId":"i","platform":"apns","pushChannel":"t","tags":["a","b"]}"#)
    let patched = try InstallationPatch.apply(try JSONValue(text: patch), to: document)
    #expect((patched["tags"] ?? .null).json == expected)
}

@Test func `a template is patched by text, and its parts by themselves`() throws {
    let document = try JSONValue(text: #"{"installationId":"i","platform":"apns","pushChannel":"t"}"#)
    let patch = try JSONValue(
        text: """
            [{"op":"add","path":"/templates/one","value":"{\\"body\\":\\"{}\\",\\"tags\\":[\\"x\\"]}"},
             {"op":"replace","path":"/templates/one/body","value":"{\\"aps\\":{}}"},
             {"op":"add","path":"/templates/one/tags","value":"y"},{"op":"add","path":"/userId","value":"anna"}]
            """)
    let read = try InstallationJSON.read(try InstallationPatch.apply(patch, to: document), id: "I")
    #expect(read.templates.map(\.body) == [#"{"aps":{}}"#])
    #expect(read.templates.first?.tags.map(\.text) == ["y"])
    #expect(read.userID == "anna")
}

@Test(arguments: [
    "{}", #"[{"op":"move","path":"/tags"}]"#, #"[{"op":"add","path":"tags"}]"#, #"[{"op":"add","path":"/tags"}]"#,
    #"[{"op":"add","path":"/templates/none/body","value":"{}"}]"#, #"[{"op":"add","path":"/a/b/c/d","value":1}]"#,
])
func `a patch that cannot be applied is refused`(patch: String) throws {
    let tree = try JSONValue(text: patch)
    #expect(throws: InstallationError.self) { try InstallationPatch.apply(tree, to: .object([])) }
}

@Test func `a merge patch sets, changes and takes away`() throws {
    let merged = InstallationPatch.merge(
        try JSONValue(text: #"{"userId":null,"tags":["x"],"pushVariables":{"a":"1"}}"#),
        into: try JSONValue(text: #"{"userId":"u","tags":["a"],"pushVariables":{"b":"2"},"locale":"de"}"#))
    #expect(merged.json == #"{"tags":["x"],"pushVariables":{"b":"2","a":"1"},"locale":"de"}"#)
}

@Test func `a merge patch finds a template's language in any spelling`() throws {
    let document = try JSONValue(
        text:
            #"{"installationId":"i","platform":"apns","templates":{"L":{"body":"{}","locales":{"pt-br":{"body":"{\"a\":1}"},"de":{"body":"{}"}}}}}"#
    )
    let changed = InstallationPatch.merge(
        try JSONValue(text: #"{"templates":{"L":{"locales":{"pt_BR":{"body":"{\"a\":2}"},"DE":null}}}}"#),
        into: document
    )
    let installation = try InstallationJSON.read(changed, id: nil)
    #expect(installation.templates.first?.locales == [.init("pt-br", .string(#"{"a":2}"#))])
    let twice =
        #"{"installationId":"i","platform":"apns","templates":{"L":{"body":"{}","locales":{"pt-br":{"body":"{}"},"pt-BR":{"body":"{}"}}}}}"#
    #expect(throws: InstallationError("/templates/L/locales/pt-BR", "this language is there twice")) {
        try InstallationJSON.read(try JSONValue(text: twice), id: nil)
    }
}

@Test(arguments: [
    (#"{"platform":"apns"}"#, "/installationId"), (#"{"installationId":"a/b","platform":"apns"}"#, "/installationId"),
    (#"{"installationId":"i","platform":"moon"}"#, "/platform"), (#"{"installationId":"i"}"#, "/platform"),
    (#"{"installationId":"i","platform":"apns","tags":["a b"]}"#, "/tags/0"),
    (#"{"installationId":"i","platform":"apns","pushChannel":7}"#, "/pushChannel"),
    (#"{"installationId":"i","platform":"browser","pushChannel":"x"}"#, "/pushChannel"),
    (#"{"installationId":"i","platform":"apns","templates":{"t":{"body":"{\"a\":\"$(\"}"}}}"#, "/templates/t/body/a"),
    (#"{"installationId":"i","platform":"apns","expirationTime":"soon"}"#, "/expirationTime"),
    (#"{"installationId":"i","platform":"apns","appVersion":"x"}"#, "/appVersion"),
])
func `an installation that cannot be taken is told where`(text: String, path: String) throws {
    let tree = try JSONValue(text: text)
    #expect { try InstallationJSON.read(tree, id: nil) } throws: { ($0 as? InstallationError)?.path == path }
}

@Test func `an installation is answered as Azure answers`() throws {
    let tree = try JSONValue(
        text: """
            {"installationId":"i","platform":"fcmV1","pushChannel":"t","userId":null,"expirationTime":null,
             "tags":["a","A","b"],"templates":{"t":{"body":"{}"}}}
            """)
    let answer = InstallationJSON.answer(
        try InstallationJSON.read(tree, id: nil), isExpired: false, updatedAt: Timestamp(rawValue: 0))
    #expect(
        answer.json == """
            {"installationId":"i","platform":"fcmV1","pushChannel":"t","tags":["a","b"],\
            "templates":{"t":{"body":"{}","tags":["t"]}},"pushChannelExpired":false,\
            "expirationTime":"9999-12-31T23:59:59.9999999Z","lastUpdate":"1970-01-01T00:00:00Z"}
            """)
}

@Test(arguments: [
    #"multipart/mixed; boundary = "nh-boundary-1""#, "multipart/mixed;boundary=nh-boundary-1",
    "Multipart/Mixed; charset=utf-8; Boundary=nh-boundary-1",
])
func `a batch is read as three SDKs write it`(contentType: String) throws {
    let body = """
        --nh-boundary-1\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n\
        {"aps":{}}\r\n--nh-boundary-1\r\ncontent-disposition: inline; name="devices"\r\n\r\n["a","b"]\r\n--nh-boundary-1--
        """
    let batch = try MultipartBatch(Array(body.utf8), contentType: contentType)
    #expect(batch.devices == ["a", "b"])
    #expect(String(decoding: batch.notification, as: UTF8.self) == #"{"aps":{}}"#)
}

@Test func `a batch without its parts is refused`() {
    for (body, type) in [
        ("", "multipart/mixed; boundary=x"), ("--x\r\n\r\n--x--", "multipart/mixed; boundary=x"), ("", "text/plain"),
        (
            "--x\nContent-Disposition: inline; name=notification\n\n{}\n--x\nContent-Disposition: inline; name=devices\n\n[]\n--x--",
            "multipart/mixed; boundary=x"
        ),
    ] {
        #expect(throws: MultipartBatch.Fault.self) { try MultipartBatch(Array(body.utf8), contentType: type) }
    }
}

@Test(arguments: [(1, true), (1000, true), (1001, false)])
func `a batch has 1000 handles at most`(count: Int, isTaken: Bool) {
    let handles = JSONValue.array((0..<count).map { .string("h\($0)") }).json
    let part = "--x\nContent-Disposition: inline; name="
    let body = Array("\(part)notification\n\n{}\n\(part)devices\n\n\(handles)\n--x--".utf8)
    let batch = try? MultipartBatch(body, contentType: "multipart/mixed; boundary=x")
    #expect((batch?.devices.count == count) == isTaken)
}
