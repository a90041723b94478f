import APNsProtocol
import AldabaTestSupport
import Testing

@Suite struct ChannelIDTests {
    @Test(arguments: [
        "AAAAAAAAAAAAAAAAAAAAAA==", "AAECAwQFBgcICQoLDA0ODw==", "/////////////////////w==", "+/+/+/+/+/+/+/+/+/+/+w==",
    ])
    func `the base64 of 16 bytes is an id, which is written as it was read`(text: String) throws {
        let id = try #require(ChannelID(text: text))
        #expect(id.bytes.count == 16)
        #expect(id.description == text)
        #expect(ChannelID(bytes: id.bytes) == id)
    }

    @Test(arguments: [
        "", "AAECAwQFBgcICQoLDA0ODw", "AAECAwQFBgcICQoLDA0ODxA=", "AAECAwQFBgcICQoLDA0ODxAR",
        "AAECAwQFBgcICQoLDA0ODw==AAAA", "AAECAwQFBgcICQoLDA0O_-==", "AAECAwQFBgcICQoLDA0O*w==",
        " AECAwQFBgcICQoLDA0ODw==", "AAECAwQFBgcICQoLDA0OD===", "00112233-4455-6677-8899", "ññññññññññññ",
    ])
    func `anything else is no id`(text: String) {
        #expect(ChannelID(text: text) == nil)
    }

    @Test(arguments: [0, 15, 17, 32])
    func `an id has 16 bytes`(count: Int) {
        #expect(ChannelID(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `random ids differ, and a seed repeats them`() {
        var generator = SeededGenerator(seed: 1)
        let ids = (0..<1000).map { _ in ChannelID.random(using: &generator) }
        #expect(Set(ids).count == 1000)
        #expect(ids.allSatisfy { ChannelID(text: $0.description) == $0 })
        var again = SeededGenerator(seed: 1)
        #expect(ChannelID.random(using: &again) == ids[0])
    }

    @Test func `a policy has the number of the wire`() {
        #expect(ChannelStoragePolicy(rawValue: 0) == .noMessageStored)
        #expect(ChannelStoragePolicy(rawValue: 1) == .mostRecentMessageStored)
        #expect(ChannelStoragePolicy(rawValue: 2) == nil && ChannelStoragePolicy(rawValue: -1) == nil)
    }
}
