import PushCore
import Testing

@Suite struct LiveActivityTargetTests {
    private static let id = "00112233445566778899aabbccddeeff"
    private static let deviceToken = String(repeating: "ab", count: 32)

    @Test(
        arguments: [
            (.start, nil), (.activity(id), "activity:\(id)"), (.channel("AAECAwQF+/=="), "channel:AAECAwQF+/=="),
        ] as [(LiveActivityTarget, String?)])
    func `a target and its collapse id stand for each other`(target: LiveActivityTarget, collapseID: String?) {
        #expect(target.collapseID == collapseID)
        #expect(LiveActivityTarget(collapseID: collapseID) == target)
    }

    @Test(arguments: ["", "news", "activity", "Activity:\(id)", "CHANNEL:x", " activity:\(id)"])
    func `any other collapse id is a start's`(collapseID: String) {
        #expect(LiveActivityTarget(collapseID: collapseID) == .start)
    }

    @Test(
        arguments: [
            (id, .activity(id)), (id.uppercased(), .activity(id)),
            ("0000000000000000000000000000000A", .activity("0000000000000000000000000000000a")),
            (String(repeating: "0", count: 32), .start),
            ("", nil), (String(id.dropLast()), nil), (id + "0", nil), (String(repeating: "0", count: 31), nil),
            (String(repeating: "0", count: 33), nil), (String(id.dropLast()) + "g", nil),
            (String(id.dropLast(2)) + "é", nil), (" " + id.dropFirst(), nil),
        ] as [(String, LiveActivityTarget?)])
    func `32 hexadecimal digits of either case name a target`(digits: String, target: LiveActivityTarget?) {
        #expect(LiveActivityTarget(tokenDigits: Array(digits.utf8)) == target)
    }

    @Test(arguments: [LiveActivityTarget.start, .activity(id)])
    func `the digits behind the device token are those of the target`(target: LiveActivityTarget) throws {
        let token = try #require(target.token(ofApp: Self.deviceToken))
        #expect(token.utf8.count == 96 && token.hasPrefix(Self.deviceToken))
        #expect(LiveActivityTarget(tokenDigits: Array(token.utf8).dropFirst(64)) == target)
    }

    @Test func `a channel has no token`() {
        #expect(LiveActivityTarget.channel("AAECAwQFBgcICQoLDA0ODw==").token(ofApp: Self.deviceToken) == nil)
    }

    @Test func `a collapse id fits into a header field`() {
        let targets: [LiveActivityTarget] = [.activity(Self.id), .channel(String(repeating: "A", count: 24))]
        for target in targets { #expect((target.collapseID?.utf8.count ?? 0) <= 64) }
    }
}
