import Testing

@testable import ConnectedDevices

/// Tokens by which an app is asked later.
@Suite struct ConnectionTokenTests {
    @Test func `A token names its app and its device again`() {
        let app = RemoteSystemApp(id: "com.example.lamp", on: "0123456789abcdef")
        #expect(
            RemoteSystemConnectionRequest(connectionToken: app.connectionToken)
                == RemoteSystemConnectionRequest(remoteSystemApp: app))
    }

    @Test func `A token fits into an address, a file's name and a header`() {
        let token = RemoteSystemApp(id: "com.example.läämp>>>???", on: "~~~").connectionToken
        #expect(token.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil)
        #expect(RemoteSystemConnectionRequest(connectionToken: token)?.app == "com.example.läämp>>>???")
    }

    @Test(arguments: [
        "", "!", "=", "MQ", "MQBhAGIA=", "MgBhAGIA", "MQAAYgA", "MQBhAAA", "MQBhAGI", "MQBhAGIAYwA", "MQD_AGIA",
        String(repeating: "A", count: 2052),
    ])
    func `What is no token is none`(_ text: String) {
        #expect(RemoteSystemConnectionRequest(connectionToken: text) == nil)
    }
}
