import CoreValues
import Testing

@testable import RelayAgent

@Suite struct DirectDiallingTests {
    private func sighting(_ id: String, _ address: String = "10.0.0.7", port: UInt16 = 1) -> DiscoveredDevice {
        DiscoveredDevice(id: id, interface: 3, address: address, port: port, salt: [1], tag: [2])
    }

    private func dials(_ dialling: inout DirectDialling, at now: Timestamp, connected: Set<String> = []) -> [String] {
        dialling.dials(at: now, match: { "peer of \($0.id)" }, isConnected: { connected.contains($0) }).map(\.peer)
    }

    @Test("A device is dialled once while that is under way, and not while there is a connection")
    func once() {
        var dialling = DirectDialling()
        dialling.appeared(sighting("1"))
        #expect(dials(&dialling, at: 0, connected: ["peer of 1"]) == [])
        #expect(dials(&dialling, at: 0) == ["peer of 1"])
        #expect(dials(&dialling, at: 0) == [])
        dialling.vanished("1")
        dialling.recordEnd(of: "peer of 1", at: 0)
        #expect(dials(&dialling, at: 90_000) == [])
    }

    @Test("The pauses after failures grow to a minute, and begin anew after a connection")
    func pauses() {
        var dialling = DirectDialling()
        dialling.appeared(sighting("1"))
        var now: Timestamp = 0
        for pause: Int64 in [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
            #expect(dials(&dialling, at: now) == ["peer of 1"])
            dialling.recordEnd(of: "peer of 1", at: now)
            #expect(dialling.deadline(after: now) == now + pause)
            #expect(dials(&dialling, at: now + pause - 1) == [])
            now += pause
        }
        #expect(dials(&dialling, at: now) == ["peer of 1"])
        dialling.succeeded("peer of 1")
        dialling.recordEnd(of: "peer of 1", at: now)
        #expect(dialling.deadline(after: now) == now + 2000)
    }

    @Test(
        "Only addresses of private networks and of this machine's links are dialled",
        arguments: [
            ("10.1.2.3", true), ("172.16.0.1", true), ("172.31.255.255", true), ("172.32.0.1", false),
            ("192.168.1.1", true), ("192.169.1.1", false), ("169.254.9.9", true), ("127.0.0.1", false),
            ("8.8.8.8", false), ("10.0.0", false), ("10.0.0.256", false), ("", false), ("fe80::1", true),
            ("febf::1", true), ("fec0::1", false), ("fe80::1%lan", true), ("fd00:1::2", true), ("fc00::2", true),
            ("2001:db8:7::2", true), ("2001:db8:8::2", false), ("::1", false), ("::", false), ("ff02::1", false),
            ("::ffff:10.0.0.7", true), ("::ffff:8.8.8.8", false), ("0.0.0.0", false), ("224.0.0.1", false),
        ])
    func addresses(address: String, isDialled: Bool) {
        var dialling = DirectDialling()
        dialling.appeared(sighting("1", address)) {
            ["2001:db8:7::1", "8.8.8.9"].compactMap { NetworkAddress($0) }.map {
                LocalAddress(interface: 3, address: $0, prefix: $0.isVersion6 ? 48 : 24)
            }
        }
        #expect(dials(&dialling, at: 0).isEmpty != isDialled)
    }

    @Test("Where a device announced itself at several addresses, each is tried before there is a pause")
    func several() {
        var dialling = DirectDialling()
        for (id, address) in [("1", "10.0.0.7"), ("2", "fe80::7"), ("3", "fd00::7")] {
            dialling.appeared(sighting(id, address))
        }
        func dial(at now: Timestamp) -> [String] {
            dialling.dials(at: now, match: { _ in "peer" }, isConnected: { _ in false }).map(\.address)
        }
        for round: Timestamp in [0, 2000] {
            for address in ["fd00::7", "fe80::7", "10.0.0.7"] {
                #expect(dial(at: round) == [address] && dial(at: round) == [])
                dialling.recordEnd(of: "peer", at: round)
            }
            #expect(dial(at: round) == [])
        }
        #expect(dial(at: 6000) == ["fd00::7"])
        // After a connection that was of use there is the first pause.
        dialling.succeeded("peer")
        dialling.recordEnd(of: "peer", at: 6000)
        #expect(dial(at: 7999) == [] && dial(at: 8000) == ["fd00::7"])
    }

    @Test("A new announcement of a device ends its pause, and a repeated one does not")
    func announcedAnew() {
        var dialling = DirectDialling()
        dialling.appeared(sighting("1"))
        dialling.recognised("peer of 1", salt: [1])
        #expect(dials(&dialling, at: 0) == ["peer of 1"])
        dialling.recordEnd(of: "peer of 1", at: 0)
        dialling.recognised("peer of 1", salt: [1])
        #expect(dials(&dialling, at: 1) == [])
        dialling.recognised("peer of 1", salt: [2])
        #expect(dials(&dialling, at: 1) == ["peer of 1"])
        dialling.recordEnd(of: "peer of 1", at: 1)
        dialling.recognised("peer of 1", salt: [1])
        #expect(dials(&dialling, at: 2) == [])
    }

    @Test("Bits in common", arguments: [(0, false), (47, true), (48, true), (49, false), (129, false)])
    func prefixes(bits: Int, isSame: Bool) throws {
        let one = try #require(NetworkAddress("2001:db8:7:1::"))
        #expect(one.hasPrefix(of: try #require(NetworkAddress("2001:db8:7:8000::")), bits: bits) == isSame)
        #expect(!one.hasPrefix(of: try #require(NetworkAddress("10.0.0.1")), bits: 8))
    }

    @Test("An address is written as it is read")
    func digits() {
        for text in ["10.0.0.7", "fe80::1", "2001:db8::", "fd00:1:2:3:4:5:6:7"] {
            #expect(NetworkAddress(text)?.text == text)
        }
    }

    @Test("No more announcements than the limit are known")
    func bounded() {
        var dialling = DirectDialling()
        for number in 0..<DirectDialling.limit + 9 { dialling.appeared(sighting("\(number)")) }
        #expect(dials(&dialling, at: 0).count == DirectDialling.limit)
    }

    @Test("An announcement's text is read as it was written, and nothing else is")
    func text() throws {
        let text = NearbyText.write(salt: [1, 255], tag: [0, 16])
        let read = try #require(NearbyText.read(text))
        #expect(read.salt == [1, 255] && read.tag == [0, 16])
        for wrong in [
            ["v=2", "s=00", "t=00"], ["v=1", "s=0", "t=00"], ["v=1", "s=zz", "t=00"], ["v=1", "s=00"], [],
        ] {
            #expect(NearbyText.read(wrong.map { Array($0.utf8) }) == nil)
        }
        #expect(NearbyText.read([[255, 254], Array("v=1".utf8), [61]]) == nil)
    }
}
