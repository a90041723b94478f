import PushCore
import PushServer
import Testing

/// What is kept of connected devices between their turns.
@Suite struct KnownAudiencesTests {
    private static let place = AppPlace(app: AppID(rawValue: 1), environment: .sandbox)

    private func audience(memberships: Int, left: Int64? = nil, registrations: Int = 1) -> DeviceAudience {
        DeviceAudience(
            cursor: 3,
            memberships: (0..<memberships).map { number in
                Membership(
                    place: Self.place, generation: 0, topic: TopicNumber(rawValue: Int64(number)), joined: 1, left: left
                )
            },
            registrations: (0..<registrations).map { number in
                FanoutRegistration(
                    place: Self.place, generation: UInt16(number), team: TeamID(rawValue: "TEAM123456"),
                    registeredAt: Timestamp(rawValue: 0))
            }, broadcasts: [NotificationID(rawValue: 9)])
    }

    @Test func `what is kept has the cursor of the turn, and nothing that was for that turn alone`() throws {
        let device = try #require(DeviceID(1))
        var known = KnownAudiences()
        var read = audience(memberships: 1)
        read.memberships += audience(memberships: 1, left: 2).memberships
        known.learn(read, of: device, cursor: 7)
        let kept = try #require(known.audience(of: device))
        #expect(kept.cursor == 7 && kept.broadcasts.isEmpty)
        #expect(kept.memberships == audience(memberships: 1).memberships && kept.registrations == read.registrations)
        known.forget(device)
        #expect(known.audience(of: device) == nil)
    }

    @Test(arguments: [
        (KnownAudiences.membershipLimit, 1, true), (KnownAudiences.membershipLimit + 1, 1, false),
        (1, KnownAudiences.registrationLimit, true), (1, KnownAudiences.registrationLimit + 1, false),
    ])
    func `a device with more than so much is not kept`(memberships: Int, registrations: Int, isKept: Bool) throws {
        let device = try #require(DeviceID(1))
        var known = KnownAudiences()
        known.learn(audience(memberships: 1), of: device, cursor: 1)
        known.learn(audience(memberships: memberships, registrations: registrations), of: device, cursor: 2)
        #expect((known.audience(of: device) != nil) == isKept)
    }

    @Test func `a device in one topic takes less than 300 bytes`() {
        // Two lists with their heads, and a place in a dictionary that is three eighths full at worst.
        let bytes =
            2 * 32 + MemoryLayout<Membership>.stride + MemoryLayout<FanoutRegistration>.stride
            + (MemoryLayout<DeviceAudience>.stride + MemoryLayout<DeviceID>.stride) * 8 / 3
        #expect(bytes < 300)
    }

    @Test func `another version of the register makes everybody unknown`() throws {
        let device = try #require(DeviceID(1))
        var known = KnownAudiences()
        known.follow(register: 4)
        known.learn(audience(memberships: 1), of: device, cursor: 1)
        known.follow(register: 4)
        #expect(known.audience(of: device) != nil)
        known.follow(register: 5)
        #expect(known.audience(of: device) == nil)
    }
}
