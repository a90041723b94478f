import Testing

@testable import NATSCarrier

@Suite struct NATSAddressTests {
    @Test func `addresses have servers, a user and files`() throws {
        let address = try NATSAddress(
            "nats://ana:s%2Fe%25cret@one:4223?ca=/etc/ca.pem, tls://[::1]?credentials=/etc/user.creds")
        #expect(address.servers == [.init(host: "one", port: 4223), .init(host: "::1", port: 4222)])
        #expect(address.usesTLS && address.user == "ana" && address.password == "s/e%cret")
        #expect(address.authorities == "/etc/ca.pem" && address.credentials == "/etc/user.creds")
    }

    @Test(arguments: ["", "one:4222", "http://one", "nats://", "nats://one/path", "nats://one?user=x"])
    func `another text is refused, and its secrets are not repeated`(text: String) {
        #expect(throws: NATSAddress.Unusable.self) { try NATSAddress(text) }
        let error = #expect(throws: NATSAddress.Unusable.self) { try NATSAddress("nats://ana:secret@one:4222/x") }
        #expect(error?.description.contains("secret") == false)
    }

    /// The seed of a user, as `nsc` writes it, and its bytes: two of the kind, 32 of the seed, two of a checksum.
    @Test func `base32 is decoded as RFC 4648 has it`() {
        #expect(NATSCredentials.base32("MZXW6YTB") == Array("fooba".utf8))
        #expect(NATSCredentials.base32("mz") == nil)
    }
}
