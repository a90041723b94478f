import APNsProtocol
import PushCore
import Testing

@Suite struct AddressedTopicTests {
    /// Apple's table of push types and what they add to the topic.
    private static let suffixes: [(PushType, String)] = [
        (.location, ".location-query"), (.voip, ".voip"), (.complication, ".complication"),
        (.fileprovider, ".pushkit.fileprovider"), (.liveactivity, ".push-type.liveactivity"),
        (.pushtotalk, ".voip-ptt"), (.widgets, ".push-type.widgets"), (.controls, ".push-type.controls"),
    ]

    private func addressed(_ topic: String, _ type: PushType?) throws -> AddressedTopic {
        try AddressedTopic(topic: ArraySlice(topic.utf8), pushType: type)
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: suffixes)
    func `a push type with a suffix addresses the app before it`(type: PushType, suffix: String) throws {
        let addressed = try addressed("com.example.todo" + suffix, type)
        #expect(text(addressed.topic) == "com.example.todo")
        #expect(try addressed.withoutSuffix() == nil)
    }

    @Test(arguments: suffixes)
    func `a push type with a suffix is refused without it`(type: PushType, suffix: String) {
        for topic in ["com.example.todo", suffix, "com.example.todo\(suffix)x", "com.example.todo\(suffix.dropLast())"]
        {
            let error = #expect(throws: APNsRejection.self) { try addressed(topic, type) }
            #expect(error?.reason == .invalidPushType)
            #expect(error?.note?.contains(suffix) == true)
        }
    }

    @Test(arguments: suffixes)
    func `without a push type the suffix implies it where no app has the whole topic`(
        type: PushType, suffix: String
    ) throws {
        let addressed = try addressed("com.example.todo" + suffix, nil)
        #expect(text(addressed.topic) == "com.example.todo" + suffix)
        let (topic, implied) = try #require(try addressed.withoutSuffix())
        #expect(text(topic) == "com.example.todo")
        #expect(implied == type)
    }

    @Test(arguments: suffixes, [PushType.alert, .background, .mdm])
    func `a suffix is refused with a push type that has none`(suffix: (PushType, String), type: PushType) throws {
        let addressed = try addressed("com.example.todo" + suffix.1, type)
        #expect(text(addressed.topic) == "com.example.todo" + suffix.1)
        let error = #expect(throws: APNsRejection.self) { try addressed.withoutSuffix() }
        #expect(error?.reason == .invalidPushType)
    }

    @Test func `the types without a suffix are those that Apple's table has none for`() {
        #expect(PushType.allCases.filter { $0.topicSuffix == nil } == [.alert, .background, .mdm])
    }
}
