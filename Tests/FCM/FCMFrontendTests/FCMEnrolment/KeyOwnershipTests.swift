import FCMProtocol
import PushCore
import PushServer
import Testing

@testable import FCMFrontend

/// The rule of who may tell the keys of a registration.
@Suite struct KeyOwnershipTests {
    private static let told = RecipientPrivateKey().publicKey
    private static let registered = Timestamp(seconds: 1_780_272_000)

    private func refusal(
        _ key: RecipientPublicKey = RecipientPrivateKey().publicKey, from installation: String, owner: String?,
        after milliseconds: Int64 = 0
    ) throws -> WebEnrolment.KeyOutcome? {
        let kept = StoredWebRegistration(
            device: try #require(DeviceID(5)), app: AppID(rawValue: 1), environment: .production,
            registration: WebRegistration(
                category: "c", subtype: "wp:a#1", sender: "s", key: owner == nil ? nil : Self.told, installation: owner),
            registeredAt: Self.registered)
        return WebEnrolment.refusal(
            of: key, from: installation, for: kept, at: Self.registered.adding(milliseconds: milliseconds))
    }

    @Test(
        arguments: [(0, nil), (WebEnrolment.claimTime, nil), (WebEnrolment.claimTime + 1, .unclaimed)]
            as [(Int64, WebEnrolment.KeyOutcome?)])
    func `the first installation has an hour from the device's registration`(
        after milliseconds: Int64, outcome: WebEnrolment.KeyOutcome?
    ) throws {
        #expect(try refusal(from: "first", owner: nil, after: milliseconds) == outcome)
    }

    @Test func `the owner tells other keys at any time`() throws {
        #expect(try refusal(from: "first", owner: "first") == nil)
        #expect(try refusal(from: "first", owner: "first", after: 1000 * WebEnrolment.claimTime) == nil)
    }

    @Test func `another installation is refused from the first moment on`() throws {
        #expect(try refusal(from: "second", owner: "first") == .foreign)
        #expect(try refusal(from: "", owner: "first") == .foreign)
    }

    @Test func `another installation proves the registration by its secret, and not by its public half`() throws {
        #expect(try refusal(Self.told, from: "second", owner: "first") == nil)
        let point = RecipientPrivateKey().publicKey.point
        let other = try RecipientPublicKey(point: point, authenticationSecret: Self.told.authenticationSecret)
        #expect(try refusal(other, from: "second", owner: "first") == nil)
        let guessed = try RecipientPublicKey(
            point: Self.told.point, authenticationSecret: Array(repeating: 0, count: 16))
        #expect(try refusal(guessed, from: "second", owner: "first") == .foreign)
    }
}
