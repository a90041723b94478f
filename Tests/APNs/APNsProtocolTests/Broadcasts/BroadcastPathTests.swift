import APNsProtocol
import Testing

@Suite struct BroadcastPathTests {
    private func path(_ text: String) -> BroadcastPath? { BroadcastPath(Array(text.utf8)[...]) }

    @Test(
        arguments: [
            ("/1/apps/com.example.todo/channels", .channels("com.example.todo")),
            ("/1/apps/com.example.todo/all-channels", .allChannels("com.example.todo")),
            ("/4/broadcasts/apps/com.example.todo", .broadcasts("com.example.todo")),
            // Bundle ids that are spelled like a part of a path.
            ("/4/broadcasts/apps/channels", .broadcasts("channels")),
            ("/4/broadcasts/apps/all-channels", .broadcasts("all-channels")),
            ("/1/apps/channels/channels", .channels("channels")),
            // Percent-encoded, with need or without.
            ("/1/apps/com%2Eexample%2etodo/channels", .channels("com.example.todo")),
            ("/1/%61pps/com.example.todo/channels", .channels("com.example.todo")),
            ("/1/apps/com.example.todo/%63hannels", .channels("com.example.todo")),
            ("/1/apps/com.example.todo/all%2Dchannels", .allChannels("com.example.todo")),
            ("/4/broadcasts/apps/%63om.example.todo", .broadcasts("com.example.todo")),
            ("/1/apps/a%2Fb/channels", .channels("a%2Fb")), ("/1/apps/a%zz/channels", .channels("a%zz")),
            ("/1/apps/a%/channels", .channels("a%")),
            // An empty bundle id and a query belong to no app; the endpoint refuses both.
            ("/1/apps//channels", .channels("")), ("/1/apps//all-channels", .allChannels("")),
            ("/4/broadcasts/apps/", .broadcasts("")),
            ("/4/broadcasts/apps/com.example.todo?a=b", .broadcasts("com.example.todo?a=b")),
        ] as [(String, BroadcastPath)])
    func `a path of the interface is read`(text: String, expected: BroadcastPath) {
        #expect(path(text) == expected)
    }

    @Test(arguments: [
        "", "/", "*", "1/apps/com.example.todo/channels", "/1/apps/com.example.todo", "/1/apps/com.example.todo/",
        "/1/apps/channels", "/1/apps/com.example.todo/channels/", "/1/apps/com.example.todo/all-channels/",
        "/1/apps/com.example.todo/channels/x", "/1/apps/com.example.todo/Channels", "/1/apps/com.example.todo/channel",
        "/1/apps/com.example.todo/channels?a=b", "/1/apps/com.example.todo/all-channels?limit=1",
        "/1/app/com.example.todo/channels", "/2/apps/com.example.todo/channels", "//1/apps/com.example.todo/channels",
        "/4/broadcasts/apps", "/4/broadcasts/apps/com.example.todo/", "/4/broadcasts/apps/a/b",
        "/4/broadcasts/com.example.todo", "/3/broadcasts/apps/com.example.todo", "/4/apps/com.example.todo/channels",
        "/3/device/abc", "/1/apps/a/b/channels", "/1/apps/com.example.todo%2Fchannels",
    ])
    func `any other path is none of it`(text: String) {
        #expect(path(text) == nil)
    }

    @Test func `bytes that are no UTF-8 trap nothing`() {
        let bytes = Array("/1/apps/".utf8) + [0xFF, 0xC3] + Array("/channels".utf8)
        #expect(BroadcastPath(bytes[...])?.app.unicodeScalars.contains("\u{FFFD}") == true)
    }

    @Test(
        arguments: [
            (.channels("a"), ["DELETE", "GET", "POST"]), (.allChannels("a"), ["GET"]), (.broadcasts("a"), ["POST"]),
        ] as [(BroadcastPath, [String])])
    func `a path has its methods, and the bundle id`(path: BroadcastPath, methods: [String]) {
        #expect(path.methods == methods)
        #expect(path.app == "a")
    }
}
