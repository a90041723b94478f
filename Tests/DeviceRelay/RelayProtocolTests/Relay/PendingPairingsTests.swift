import Testing

@testable import RelayProtocol

/// Devices that wait to be paired while strangers do the same.
@Suite struct PendingPairingsTests {
    private static func session(_ device: String, _ epoch: UInt64 = 1) -> RelaySession {
        RelaySession(device: device, epoch: epoch)
    }

    private static func place(_ number: Int) -> [UInt8] { [1, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

    /// Strangers, each at a place of its own, by the numbers of their places.
    enum Strangers: CaseIterable {
        case oneDevice
        case oneNetwork
        case thirtyNetworks
        case devicesOfUnknownNetworks

        func session(_ number: Int) -> RelaySession {
            self == .oneDevice
                ? PendingPairingsTests.session("stranger", UInt64(number) + 1)
                : PendingPairingsTests.session("stranger \(number)")
        }

        func network(_ number: Int) -> String? {
            switch self {
            case .oneDevice, .oneNetwork: "10.0.0.1"
            case .thirtyNetworks: "10.0.0.\(number % 30)"
            case .devicesOfUnknownNetworks: nil
            }
        }

        /// The highest number of them that wait at once.
        var most: Int {
            switch self {
            case .oneDevice: 1
            case .oneNetwork: PairingLimits.share
            case .thirtyNetworks, .devicesOfUnknownNetworks: PairingLimits.count
            }
        }
    }

    @Test(arguments: Strangers.allCases)
    func `however many strangers wait, two others are paired`(strangers: Strangers) {
        var pairings = PendingPairings()
        for number in 0..<3000 {
            _ = pairings.add(strangers.session(number), at: Self.place(number), from: strangers.network(number), now: 0)
        }
        #expect(pairings.count <= strangers.most)
        let directives = pairings.add(Self.session("a"), at: [2], from: "192.0.2.1", now: 1)
        #expect(!directives.contains { if case .send(_, Self.session("a")) = $0 { true } else { false } })
        #expect(
            pairings.add(Self.session("b"), at: [2], from: "198.51.100.1", now: 2) == [
                .send(.peerJoined(device: "b"), to: Self.session("a")),
                .send(.peerJoined(device: "a"), to: Self.session("b")),
            ])
    }

    @Test(arguments: [Strangers.oneDevice, .oneNetwork, .thirtyNetworks])
    func `a device that waits is not pushed out by strangers who come later`(strangers: Strangers) {
        var pairings = PendingPairings()
        _ = pairings.add(Self.session("a"), at: [2], from: "192.0.2.1", now: 0)
        for number in 0..<3000 {
            _ = pairings.add(strangers.session(number), at: Self.place(number), from: strangers.network(number), now: 1)
        }
        #expect(pairings.count <= strangers.most + 1)
        #expect(pairings.add(Self.session("b"), at: [2], from: "192.0.2.1", now: 2).count == 2)
    }

    @Test func `the device that gives way is the oldest of its network, and is told`() {
        var pairings = PendingPairings()
        for number in 0..<PairingLimits.share {
            #expect(pairings.add(Self.session("\(number)"), at: Self.place(number), from: "n", now: 0).isEmpty)
        }
        let directives = pairings.add(Self.session("a"), at: [2], from: "n", now: 1)
        guard case .send(.refused, Self.session("0"))? = directives.first else {
            return #expect(Bool(false), "the oldest is not told")
        }
        #expect(directives.count == 1 && pairings.count == PairingLimits.share)
    }

    @Test func `a device waits for ten minutes, and at one place`() {
        var pairings = PendingPairings()
        _ = pairings.add(Self.session("a"), at: [2], from: nil, now: 0)
        _ = pairings.add(Self.session("a"), at: [3], from: nil, now: 1)
        #expect(pairings.count == 1)
        #expect(pairings.add(Self.session("b"), at: [2], from: nil, now: 2).isEmpty)
        #expect(pairings.add(Self.session("c"), at: [3], from: nil, now: 1 + PairingLimits.lifetime).isEmpty)
    }

    @Test func `the end of an older session leaves the newer one waiting`() {
        var pairings = PendingPairings()
        _ = pairings.add(Self.session("a", 1), at: [2], from: nil, now: 0)
        _ = pairings.add(Self.session("a", 2), at: [3], from: nil, now: 1)
        pairings.remove(Self.session("a", 1))
        #expect(pairings.count == 1)
        pairings.remove(Self.session("a", 2))
        #expect(pairings.count == 0)
    }
}
