import PushCore
import Testing

@testable import PushServer

/// The devices whose subscriptions are being changed.
@Suite struct ChangingAudiencesTests {
    @Test func `whose subscriptions change is told until as many changes have ended as began`() throws {
        let (one, two) = (try #require(DeviceID(1)), try #require(DeviceID(2)))
        let changing = ChangingAudiences()
        changing.beginChange(of: [one, two])
        changing.beginChange(of: [one])
        #expect(changing.among([one, two]) == [one, two])
        changing.endChange(of: [one, two])
        #expect(changing.among([one, two]) == [one])
        changing.endChange(of: [one])
        #expect(changing.among([one, two]).isEmpty)
    }
}
