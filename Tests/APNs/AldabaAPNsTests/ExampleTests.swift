import AldabaAPNs
import AldabaTestSupport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ExampleTests {
    @Test func `the pages show what is compiled here`() throws {
        let section = try PageExample("Garden.swift")
        #expect(section.shown == section.compiled)
        let guide = try PageExample("Garden.swift", guide: "Docs/apns-library.md")
        #expect(guide.shown == guide.compiled)
    }

    @Test func `the example tells what became of each notification`() async throws {
        let double = APNsDouble()
        double.add(.answer(status: 400, reason: "BadDeviceToken"), for: "bb")
        double.add(.answer(status: 503, reason: "Shutdown"), for: "cc")
        double.add(.tokenDead(since: Date(timeIntervalSince1970: 0)), for: "dd")
        let accepted = try await remind("aa", by: double)
        let bad = try await remind("bb", by: double)
        let later = try await remind("cc", by: double)
        let dead = try await remind("dd", by: double)
        #expect(accepted.hasPrefix("accepted as "))
        #expect(bad == "not sent: The device token is malformed or of the other environment.")
        #expect(later == "try again in 1.0 seconds: Shutdown")
        #expect(dead.contains("1970-01-01"))
        #expect(
            double.requests.first?.payload
                == Array(
                    #"{"aps":{"alert":{"title":"Water the plants","body":"The basil first."}},"plant":"basil"}"#.utf8))
    }
}
