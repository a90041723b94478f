import RelayProtocol
import Testing

@Suite struct AddressRuleTests {
    @Test(
        "Addresses that name what is here, or carry a program, are never opened",
        arguments: ["file:///etc/passwd", "FILE:/x", "data:,x", "JavaScript:1", "vbscript:x", "about:x", "blob:x"])
    func never(_ uri: String) {
        #expect(AddressRule.fault(of: uri)?.hasSuffix("are never opened") == true)
        guard case .denied = AddressRule.verdict(on: uri, isAllowed: { _ in true }) else {
            return #expect(Bool(false), "\(uri) is allowed")
        }
    }

    @Test(
        "What is no address is not opened",
        arguments: [
            "", ":", "x", "/etc/passwd", "1a:b", "https://a b", "https://a\n", "\u{7f}a:", "-h:", "a b:c",
            "https://a/\u{202E}gpj.exe", "https://\u{2067}a\u{2069}", "https://a/\u{200F}b", "https://a/\u{061C}b",
            "https://", "https:///etc/passwd", "http://:80/", "https://?a", "https:a", "https:/a", "HTTPS:////a",
            "https://user:password@a", "https://bank.example@a/", "https://a\\@b/", "https://[]/",
            "ssh://user:password@a",
        ])
    func malformed(_ uri: String) {
        guard case .denied = AddressRule.verdict(on: uri, isAllowed: { _ in true }) else {
            return #expect(Bool(false), "\(uri) is allowed")
        }
    }

    @Test(
        "An address may have a port, an IPv6 address, and an @ behind its host",
        arguments: [
            "https://a:8443/@b", "https://[::1]:80/", "https://a?b@c", "https://a#b@c", "mailto:a@b", "ssh://user@a",
            "tel:+1", "geo:1,2",
        ])
    func sound(_ uri: String) { #expect(AddressRule.fault(of: uri) == nil) }

    @Test("http and https are allowed as they are, other schemes where they were")
    func allowed() {
        #expect(AddressRule.verdict(on: "HTTPS://a", isAllowed: { _ in false }) == .allowed(scheme: "https"))
        #expect(AddressRule.scheme(of: "MAILTO:a") == "mailto")
        #expect(AddressRule.scheme(of: "file:///etc") == nil)
        #expect(AddressRule.verdict(on: "mailto:a", isAllowed: { $0 == "mailto" }) == .allowed(scheme: "mailto"))
        let long = "https://" + String(repeating: "a", count: 8192)
        guard case .denied = AddressRule.verdict(on: long, isAllowed: { _ in true }) else {
            return #expect(Bool(false), "it is allowed")
        }
    }
}
