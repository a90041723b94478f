import PushCore
import PushServer
import Testing

/// Broadcasts for lists: who is in is told from outside.
@Suite struct RecipientListTests {
    private static let place = AppPlace(app: AppID(rawValue: 7), environment: .production)
    private static let other = AppPlace(app: AppID(rawValue: 8), environment: .production)
    private static let now = Timestamp(seconds: 1_780_272_000)

    private static func broadcast(_ number: Int64, list: Int64) -> Broadcast {
        Broadcast(
            id: NotificationID(rawValue: number), sequence: number, team: TeamID(rawValue: "TEAM123456"),
            audience: .list(RecipientList(number: list, place: place)), acceptedAt: now,
            expiresAt: now.adding(milliseconds: 1000))
    }

    private static func device(lists: Set<Int64>?, broadcasts: [Int64]) -> DeviceAudience {
        let registrations = [place, other].map {
            FanoutRegistration(
                place: $0, generation: 0, team: TeamID(rawValue: "TEAM123456"), registeredAt: now)
        }
        var device = DeviceAudience(
            registrations: registrations, broadcasts: broadcasts.map(NotificationID.init(rawValue:)))
        device.lists = lists
        return device
    }

    private static func replay(_ device: DeviceAudience, _ broadcasts: [Broadcast]) -> [Fanout.ReplayStep] {
        Fanout.replay(
            device, of: Dictionary(uniqueKeysWithValues: broadcasts.map { ($0.id, $0) }), isConnected: true, now: now)
    }

    @Test func `a list is read back as it was written, and nothing else is one`() {
        let audience = Audience.list(RecipientList(number: 12, place: Self.place))
        #expect(audience.text == "list 12 7 production" && Audience(text: audience.text) == audience)
        #expect(audience.entries == [.everyone] && !audience.dependsOnLeaving)
        let wrong = [
            "list 12 7", "list x 7 production", "list 12 -7 production", "list 12 7 nowhere", "lists 1 2 sandbox",
        ]
        for text in wrong {
            #expect(Audience(text: text) == nil)
        }
    }

    @Test func `the registration of the list's app gets it where it is in, once`() {
        let broadcasts = [Self.broadcast(1, list: 10), Self.broadcast(2, list: 11)]
        let turns = Self.replay(Self.device(lists: [11], broadcasts: [1, 2]), broadcasts)
        #expect(turns.map(\.cursor) == [1, 2])
        #expect(turns.map { $0.registrations.map(\.place) } == [[], [Self.place]])
    }

    @Test(arguments: [[1], [1, 2]] as [[Int64]])
    func `nothing is passed over while it is not known who is in`(numbers: [Int64]) {
        let broadcasts = numbers.map { Self.broadcast($0, list: 10) }
        #expect(Self.replay(Self.device(lists: nil, broadcasts: numbers), broadcasts).isEmpty)
    }
}
