import APNsProtocol
import Testing

@testable import APNsFrontend

@Suite struct AppleLimitsTests {
    @Test func `the first accepted request lifts the limit of one stream, and later ones change nothing`() {
        var limits = AppleLimits()
        let (first, second) = (limits.handleAcceptance(), limits.handleAcceptance())
        #expect(first == .limitStreams(1000))
        #expect(second == nil)
    }

    @Test func `a certificate lifts the limit at once`() {
        var limits = AppleLimits()
        let (certificate, acceptance) = (limits.handleCertificate(), limits.handleAcceptance())
        #expect(certificate == .limitStreams(1000))
        #expect(acceptance == nil)
    }

    @Test(arguments: [
        (APNsReason.badPriority, AppleLimits.Action?.some(.limitStreams(1))), (.badDeviceToken, .limitStreams(1)),
        (.expiredProviderToken, .limitStreams(1)), (.tooManyRequests, .limitStreams(1)), (.unregistered, nil),
        (.expiredToken, nil), (.serviceUnavailable, nil), (.internalServerError, nil),
    ])
    func `an error of the sender slows the connection, and a dead token or a fault of the server does not`(
        reason: APNsReason, action: AppleLimits.Action?
    ) {
        var limits = AppleLimits()
        _ = limits.handleAcceptance()
        let found = limits.handleRefusal(reason)
        #expect(found == action)
        #expect(limits.isSlowed == (action != nil))
        let next = limits.handleAcceptance()
        #expect(next == (action == nil ? nil : .limitStreams(1000)))
    }

    @Test(arguments: [(APNsReason.badPriority, 50), (.badDeviceToken, 25)])
    func `many errors end the connection, and bad device tokens sooner`(reason: APNsReason, count: Int) {
        var limits = AppleLimits()
        for _ in 1..<count {
            let action = limits.handleRefusal(reason)
            #expect(action != .end(.tooManyRequests))
        }
        let last = limits.handleRefusal(reason)
        #expect(last == .end(.tooManyRequests))
        let (refusal, acceptance) = (limits.handleRefusal(reason), limits.handleAcceptance())
        #expect(refusal == nil)
        #expect(acceptance == nil)
    }

    @Test func `accepted requests pay for errors, and not in advance`() {
        var limits = AppleLimits()
        for _ in 0..<100 { _ = limits.handleAcceptance() }
        for _ in 0..<49 { _ = limits.handleRefusal(.badTopic) }
        #expect(limits.cost == 49)
        _ = limits.handleAcceptance()
        #expect(limits.cost == 48)
        let (first, second) = (limits.handleRefusal(.badTopic), limits.handleRefusal(.badTopic))
        #expect(first == .limitStreams(1))
        #expect(second == .end(.tooManyRequests))
    }
}
