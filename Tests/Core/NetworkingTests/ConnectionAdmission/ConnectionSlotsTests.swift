import NIOCore
import Testing

@testable import Networking

@Suite struct ConnectionSlotsTests {
    private func slots(total: Int = 3, perAddress: Int = 100, unproven: Int = 100) -> ConnectionSlots<Int> {
        ConnectionSlots(limits: .init(total: total, perAddress: perAddress, unproven: unproven))
    }

    @Test func `a full listener gives up its oldest unproven connection`() {
        var slots = slots()
        for connection in 1...3 { #expect(slots.opened(connection, from: nil) == .admitted) }
        slots.proven(1)
        #expect(slots.opened(4, from: nil) == .replacing(2))
        #expect(slots.opened(5, from: nil) == .replacing(3))
        #expect(slots.count == 3)
    }

    @Test func `a proven connection gives way to nobody`() {
        var slots = slots(total: 2)
        for connection in 1...2 {
            _ = slots.opened(connection, from: nil)
            slots.proven(connection)
        }
        #expect(slots.opened(3, from: nil) == .refused(.full))
        slots.closed(1)
        #expect(slots.opened(4, from: nil) == .admitted)
    }

    @Test func `unproven connections have a limit of their own`() {
        var slots = slots(total: 100, unproven: 2)
        #expect(slots.opened(1, from: nil) == .admitted)
        #expect(slots.opened(2, from: nil) == .admitted)
        #expect(slots.opened(3, from: nil) == .replacing(1))
        slots.proven(2)
        slots.proven(3)
        #expect(slots.opened(4, from: nil) == .admitted)
        #expect(slots.count == 3)
    }

    @Test func `an address has its share, and gets it back when connections close or give way`() {
        var slots = slots(total: 3, perAddress: 2)
        let address = ClientAddress.ipv4(1)
        #expect(slots.opened(1, from: address) == .admitted)
        #expect(slots.opened(2, from: address) == .admitted)
        #expect(slots.opened(3, from: address) == .refused(.addressFull))
        #expect(slots.opened(4, from: .ipv4(2)) == .admitted)
        #expect(slots.opened(5, from: .ipv4(2)) == .replacing(1))
        slots.closed(1)
        #expect(slots.opened(6, from: address) == .replacing(2))
        #expect(slots.count == 3)
    }

    @Test func `what is opened, proven and closed a million times holds nothing`() {
        var slots = slots(total: 10)
        for connection in 0..<1_000_000 {
            guard case .admitted = slots.opened(connection, from: .ipv4(7)) else { return #expect(Bool(false)) }
            if connection.isMultiple(of: 2) { slots.proven(connection) }
            slots.closed(connection)
        }
        #expect(slots.count == 0 && slots.remembered < 512)
    }
}

@Suite struct ClientAddressTests {
    static let ranges: [(range: String, address: String, isIn: Bool)] = [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
        ("10.0.0.0/9", "10.127.0.0", true), ("10.0.0.0/9", "10.128.0.0", false),
        ("2001:db8::/32", "2001:db8:1::1", true),
        ("2001:db8::/32", "2001:db9::1", false), ("127.0.0.0/8", "::ffff:127.0.0.1", true),
    ]

    @Test(arguments: ranges)
    func `a range holds its addresses`(range: String, address: String, isIn: Bool) throws {
        let range = try #require(AddressRange(range))
        #expect(try range.contains(SocketAddress(ipAddress: address, port: 1)) == isIn)
    }

    @Test(arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "localhost", "10.0.0", "::1/129", "a/8"])
    func `what is no range is refused`(text: String) { #expect(AddressRange(text) == nil) }

    @Test func `one IPv6 network is one client, and a mapped IPv4 address is that address`() throws {
        func client(_ text: String) throws -> ClientAddress? {
            ClientAddress(try SocketAddress(ipAddress: text, port: 1))
        }
        #expect(try client("2001:db8::1") == client("2001:db8::ffff:1"))
        #expect(try client("2001:db8::1") != client("2001:db8:0:1::1"))
        #expect(try client("::ffff:10.0.0.1") == client("10.0.0.1"))
    }
}

@Suite struct DescriptorBudgetTests {
    @Test(arguments: [256, 1024, 4096, 1_048_576])
    func `no listener can take the last descriptor`(openFiles: Int) {
        let budget = DescriptorBudget(openFiles: openFiles, servesLegacy: true)
        let all = [budget.providers, budget.control, budget.legacy, budget.metrics, budget.devices]
        #expect(all.reduce(0, +) <= openFiles - DescriptorBudget.reserved)
        #expect(all.allSatisfy { $0 >= 8 })
        #expect(DescriptorBudget(openFiles: openFiles).legacy == 0)
    }

    @Test func `a large limit gives every listener what it can use`() {
        let budget = DescriptorBudget(openFiles: 1_048_576)
        #expect(budget.providers == 10_000 && budget.control == 4096 && budget.devices == 200_000)
        #expect(budget.metrics == 64)
    }
}
