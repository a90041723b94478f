import NIOCore
import Testing

@testable import Networking

struct AddressRuleTests {
    private func refusal(_ text: String, allowing allowed: [String] = []) throws -> String? {
        AddressRule(allowing: allowed.map { AddressRange($0)! })
            .refusal(of: try SocketAddress(ipAddress: text, port: 443))
    }

    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.0.1.1",
        "192.167.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.255", "9.255.255.255", "11.0.0.1", "128.0.0.1",
        "169.253.255.255", "2606:4700:4700::1111", "2a00:1450:4001:810::200e", "64:ff9b::1.1.1.1",
        "::ffff:1.1.1.1",
    ])
    func `a public address is taken`(address: String) throws {
        #expect(try refusal(address) == nil)
    }

    @Test(arguments: [
        ("0.0.0.0", "network"), ("0.1.2.3", "network"), ("10.0.0.1", "private"), ("10.255.255.255", "private"),
        ("100.64.0.1", "provider"), ("100.127.255.255", "provider"), ("127.0.0.1", "machine"),
        ("127.255.255.254", "machine"), ("169.254.169.254", "link-local"), ("172.16.0.1", "private"),
        ("172.31.255.255", "private"), ("192.0.0.8", "protocols"), ("192.0.2.1", "documentation"),
        ("192.88.99.1", "6to4"), ("192.168.1.1", "private"), ("198.18.0.1", "measurements"),
        ("198.19.255.255", "measurements"), ("198.51.100.7", "documentation"), ("203.0.113.9", "documentation"),
        ("224.0.0.1", "multicast"), ("239.255.255.255", "multicast"), ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"), ("::", "no address"), ("::1", "machine"), ("::7f00:1", "public internet"),
        ("::ffff:127.0.0.1", "machine"), ("::ffff:10.1.2.3", "private"), ("::ffff:0:127.0.0.1", "public internet"),
        ("64:ff9b::127.0.0.1", "machine behind NAT64"), ("64:ff9b::a00:1", "private address behind NAT64"),
        ("64:ff9b::169.254.169.254", "link-local"), ("64:ff9b:1::1", "NAT64"), ("100::1", "discards"),
        ("2001::1", "protocols"), ("2001:db8::1", "documentation"), ("2002:7f00:1::", "6to4"),
        ("3fff::1", "documentation"), ("4000::1", "public internet"), ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("fe80::1", "link-local"), ("febf::1", "link-local"), ("fec0::1", "private"), ("ff02::1", "multicast"),
    ])
    func `every other address is refused by its name`(address: String, word: String) throws {
        #expect(try #require(try refusal(address)).contains(word))
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.0/8"), ("::ffff:127.0.0.1", "127.0.0.0/8"), ("10.1.2.3", "10.1.0.0/16"),
        ("fd00::7", "fd00::/8"), ("64:ff9b::10.1.2.3", "10.1.0.0/16"), ("64:ff9b::10.1.2.3", "64:ff9b::/96"),
    ])
    func `an address that is allowed is taken whatever it is`(address: String, range: String) throws {
        #expect(try refusal(address, allowing: [range]) == nil)
    }

    @Test func `one range that is allowed allows no other`() throws {
        #expect(try refusal("10.2.0.1", allowing: ["10.1.0.0/16"]) != nil)
        #expect(try refusal("::1", allowing: ["127.0.0.0/8"]) != nil)
    }
}
