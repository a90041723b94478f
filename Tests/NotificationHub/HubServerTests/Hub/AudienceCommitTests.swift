import HubProtocol
import PushCore
import Testing

@testable import HubServer

struct AudienceCommitTests {
    private func entry(_ number: UInt32) throws -> AudienceEntry {
        AudienceEntry(
            number: number, platform: .browser, tags: [try #require(TagName("a:b")), try #require(TagName("C"))],
            templateTags: [try #require(TagName("t"))], hasTemplates: true, locale: "de-at", country: "at",
            appVersion: "1.\"2", timeZone: "Europe/Vienna", person: PersonNumber("anna"), isRegistration: true,
            seenAt: Timestamp(rawValue: 1_780_000_000_123))
    }

    @Test func `a commit is read as it was written`() throws {
        let plain = AudienceEntry(number: .max, platform: .apns, tags: [], seenAt: Timestamp(rawValue: 0))
        let commit = AudienceCommit(
            hub: 3, version: 9,
            changes: [
                AudienceChange(hub: 3, before: nil, after: try entry(1)),
                AudienceChange(hub: 3, before: try entry(1), after: plain),
                AudienceChange(hub: 3, before: plain, after: nil),
            ], seen: .init(installations: [1, .max], at: Timestamp(rawValue: 5)))
        #expect(AudienceCommit(hub: 3, version: 9, content: commit.content) == commit)
    }

    @Test(arguments: ["", "[", #"{"c":[[null]]}"#, #"{"c":[1]}"#])
    func `a text that is no commit is not read as one`(content: String) {
        #expect(AudienceCommit(hub: 1, version: 1, content: content) == nil)
    }

    @Test func `a copy applies each commit once, in order, and says where one is missing`() throws {
        var audience = HubAudience(generation: 0, version: 4, index: AudienceIndex())
        func commit(_ version: Int64) throws -> AudienceCommit {
            AudienceCommit(
                hub: 1, version: version,
                changes: [AudienceChange(hub: 1, before: nil, after: try entry(UInt32(version)))])
        }
        #expect(try !audience.apply(commit(6)))
        #expect(try audience.apply(commit(5)) && audience.apply(commit(5)) && audience.apply(commit(4)))
        #expect(audience.index.count == 1 && audience.version == 5)
        #expect(try audience.apply(commit(6)))
        #expect(audience.index.count == 2)
    }
}
