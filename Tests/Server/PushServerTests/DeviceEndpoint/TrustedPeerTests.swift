import NIOCore
import Networking
import Testing

@testable import PushServer

/// Peers that may speak to the device endpoint without TLS.
@Suite struct TrustedPeerTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.200.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.1.2.3", true),
        ("192.168.1.7", false), ("10.2.0.1", false), ("128.0.0.1", false), ("::2", false), ("fe80::1", false),
        ("::ffff:192.168.1.7", false),
    ])
    func `only this machine and proxies are trusted`(address: String, isTrusted: Bool) throws {
        var configuration = DeviceEndpointConfiguration(host: "0.0.0.0", port: 0)
        configuration.admission.exempt = [try #require(AddressRange("10.1.0.0/16"))]
        #expect(configuration.isTrusted(try SocketAddress(ipAddress: address, port: 5)) == isTrusted)
        #expect(!configuration.isTrusted(nil))
        #expect(!configuration.isTrusted(try SocketAddress(unixDomainSocketPath: "/tmp/s")))
    }
}
