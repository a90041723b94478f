import CoreValues

/// The addresses that other devices may have opened here.
public enum AddressRule {
    /// The decision about an address.
    public enum Verdict: Hashable, Sendable {
        /// The address may be opened; its scheme in lower case.
        case allowed(scheme: String)
        /// The address may not; why, in words.
        case denied(String)
        /// No app opens the scheme, given in lower case, and the owner, who may allow it, has not.
        case notAllowed(scheme: String)
    }

    /// Schemes that are never opened: they name what is on this machine, or carry a program.
    public static let never: Set<String> = [
        "file", "data", "javascript", "vbscript", "blob", "about", "view-source", "jar",
    ]
    /// Schemes that are always allowed.
    public static let always: Set<String> = ["http", "https"]
    /// The longest address, in bytes.
    public static let longest = 8192

    /// Examines an address.
    ///
    /// - Parameter isAllowed: Whether a scheme, in lower case, is allowed here beside ``always``.
    public static func verdict(on uri: String, isAllowed: (String) -> Bool) -> Verdict {
        if let fault = fault(of: uri) { return .denied(fault) }
        let scheme = uri.prefix { $0 != ":" }.lowercased()
        return always.contains(scheme) || isAllowed(scheme) ? .allowed(scheme: scheme) : .notAllowed(scheme: scheme)
    }

    /// Why a text is no address that any device opens; `nil` where it may be one.
    public static func fault(of uri: String) -> String? {
        let bytes = uri.utf8
        guard bytes.count <= longest else {
            return "the address has \(bytes.count) bytes; at most \(longest) are allowed"
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            return "the address holds a space or a control character"
        }
        if let control = uri.unicodeScalars.first(where: { DirectionControls.contains($0) || isMark($0) }) {
            let number = String(control.value, radix: 16, uppercase: true)
            return "the address holds U+\(number), with which it would read otherwise than it is"
        }
        guard let colon = uri.firstIndex(of: ":"), isScheme(uri[..<colon]) else {
            return "the address does not begin with a scheme, such as https:"
        }
        let scheme = uri[..<colon].lowercased()
        guard !never.contains(scheme) else { return "addresses of the scheme \(scheme) are never opened" }
        return fault(ofRest: uri[colon...].dropFirst(), isWeb: always.contains(scheme))
    }

    /// The fault behind an address's scheme: a page has a host, and no name or password in front of it, which would
    /// be taken for the host; no other address has a password.
    private static func fault(ofRest rest: Substring, isWeb: Bool) -> String? {
        if isWeb, rest.contains("\\") { return "the address holds a backslash, which some programs read as /" }
        guard rest.hasPrefix("//") else {
            return isWeb ? "the address of a page has // and a host behind its scheme" : nil
        }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        let end = authority.lastIndex(of: "@")
        if let end, isWeb || authority[..<end].contains(":") {
            return isWeb
                ? "the address has a name in front of its host, behind which another host can hide"
                : "the address has a password in it"
        }
        guard isWeb else { return nil }
        let host =
            authority.hasPrefix("[") ? authority.prefix { $0 != "]" }.dropFirst() : authority.prefix { $0 != ":" }
        return host.isEmpty ? "the address of a page has no host" : nil
    }

    /// Marks that show nothing and change the order of what is beside them.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [0x061C, 0x200E, 0x200F].contains(scalar.value)
    }

    /// Whether a text is a scheme (RFC 3986, section 3.1).
    public static func isScheme(_ text: some StringProtocol) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    /// Why a scheme, in lower case, can be neither allowed nor forbidden; `nil` where it can.
    public static func fault(ofRule scheme: String, isAllowed: Bool) -> String? {
        guard isScheme(scheme) else {
            return
                "\(scheme) is no scheme: a letter, then letters, digits, +, - and ., without the colon, such as mailto"
        }
        if isAllowed, never.contains(scheme) { return "addresses of the scheme \(scheme) are never opened" }
        if !isAllowed, always.contains(scheme) { return "addresses of the scheme \(scheme) are always opened" }
        return nil
    }

    /// The reason why an app cannot offer to open addresses of a scheme; `nil` where it can. `*` means all schemes.
    public static func fault(ofOffered scheme: String) -> String? {
        scheme == "*" ? nil : fault(ofRule: scheme.lowercased(), isAllowed: true)
    }

    /// The scheme of an address, in lower case; `nil` for one that is never opened.
    public static func scheme(of uri: String) -> String? {
        if case .allowed(let scheme) = verdict(on: uri, isAllowed: { _ in true }) { scheme } else { nil }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
