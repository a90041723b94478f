import PushCore
import PushServer
import Testing

private func cleaned(_ text: String) throws -> String { AuditRedaction.cleaned(try JSONValue(text: text)).json }

@Suite struct AuditRedactionTests {
    @Test(arguments: [
        "secret", "clientSecret", "client_secret", "password", "Passphrase", "token", "accessToken", "refresh-token",
        "device_tokens", "authorization", "Cookie", "privateKey", "private_key", "apiKey", "api-key", "serverKey",
        "connectionString", "key", "keys", "signature", "bearer", "hash", "pem", "primary", "secondary",
        "recoveryCodes", "credentials", "payload", "content", "title", "body",
    ])
    func `a member with the name of a secret or of a notification's content is removed`(name: String) throws {
        #expect(try cleaned(#"{"\#(name)":"x"}"#) == #"{"\#(name)":"(removed)"}"#)
        #expect(try cleaned(#"{"a":[{"\#(name)":{"x":1}}]}"#) == #"{"a":[{"\#(name)":"(removed)"}]}"#)
    }

    @Test(arguments: [
        #"{"keyId":"KEY1234567"}"#, #"{"publicKey":"MFkw"}"#, #"{"teamId":"T"}"#, #"{"tokens":3}"#, #"{"token":null}"#,
        #"{"name":"Ana","limit":10,"push":true}"#, #"[1,"two",null]"#,
    ])
    func `other members stay`(text: String) throws { #expect(try cleaned(text) == text) }

    @Test(arguments: [
        "-----BEGIN PRIVATE KEY-----", "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=a", "Bearer abc",
        "SharedAccessSignature sr=a&sig=b",
    ])
    func `a text that is a secret is removed, whatever its name is`(secret: String) throws {
        let tree = JSONValue.object([.init("note", .array([.string("a \(secret)")]))])
        #expect(AuditRedaction.cleaned(tree).json == #"{"note":["(removed)"]}"#)
    }

    @Test(arguments: [
        ("https://host/path?key=1#a", "https://host/path"), ("https://me:pass@host:1/a@b", "https://host:1/a@b"),
        ("https://host", "https://host"), ("/media/a.png", "/media/a.png"),
    ])
    func `an address has no query and no user`(address: String, left: String) throws {
        #expect(try cleaned(#"{"url":"\#(address)"}"#) == #"{"url":"\#(left)"}"#)
    }

    @Test func `of a large tree the size is kept alone`() {
        let tree = JSONValue.array(Array(repeating: .string("0123456789"), count: 2000))
        #expect(AuditRedaction.text(tree) == #"{"bytes":26001}"#)
        #expect(AuditRedaction.text(nil) == nil && AuditRedaction.text(.null) == nil)
    }
}
