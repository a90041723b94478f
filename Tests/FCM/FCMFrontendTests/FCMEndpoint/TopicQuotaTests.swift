import AldabaTestSupport
import FCMFrontend
import PushCore
import PushServer
import Testing

/// Who may change subscriptions how often.
@Suite struct TopicQuotaTests {
    @Test func `a project may make so many requests at once, and as many in each second`() {
        let clock = ManualClock()
        let quotas = SubscriptionQuotas(perSecond: 3, clock: clock.function)
        let team = TeamID(rawValue: "TEAM123456")
        func taken() -> Int { (1...10).count { _ in quotas.take(team) == nil } }
        #expect(taken() == 3)
        #expect(quotas.take(TeamID(rawValue: "OTHER12345")) == nil)
        #expect(quotas.take(nil) == nil, "whoever may act for every team has a quota of their own")
        #expect(quotas.take(team) == 1)
        clock.advance(milliseconds: 334)
        #expect(taken() == 1)
        clock.advance(milliseconds: 60_000)
        #expect(taken() == 3, "what was not used is not saved up")
    }

    @Test(arguments: [(perSecond: 0.1, seconds: 10), (0.5, 2), (3000, 1)])
    func `a bucket says after how many seconds there is a token`(perSecond: Double, seconds: Int) {
        let now = Timestamp(seconds: 1_780_272_000)
        var bucket = TokenBucket(capacity: 1, perSecond: perSecond, now: now)
        #expect(bucket.take(at: now) == nil)
        #expect(bucket.take(at: now) == seconds)
        #expect(bucket.take(at: now.adding(milliseconds: -5000)) == seconds, "a clock that is set back fills nothing")
        #expect(bucket.take(at: now.adding(milliseconds: Int64(seconds) * 1000)) == nil)
    }
}
