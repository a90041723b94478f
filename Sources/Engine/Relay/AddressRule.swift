/// Which addresses other devices may have opened here.
public enum AddressRule {
    /// What becomes of an address.
    public enum Verdict: Hashable, Sendable {
        /// It may be opened; its scheme in lower case.
        case allowed(scheme: String)
        /// It may not; why, in words.
        case denied(String)
    }

    /// Schemes that are never opened: they name what is on this machine, or carry a program.
    public static let never: Set<String> = [
        "file", "data", "javascript", "vbscript", "blob", "about", "view-source", "jar",
    ]
    /// Schemes that need nobody's word.
    public static let always: Set<String> = ["http", "https"]
    /// The longest address, in bytes.
    public static let longest = 8192

    /// Examines an address.
    ///
    /// - Parameter isAllowed: Whether a scheme, in lower case, is allowed here beside ``always``.
    public static func verdict(on uri: String, isAllowed: (String) -> Bool) -> Verdict {
        let bytes = Array(uri.utf8)
        guard bytes.count <= longest else { return .denied("the address is longer than \(longest) bytes") }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            return .denied("the address holds a space or a control character")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first, isLetter(first),
            bytes[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
        else { return .denied("the address does not begin with a scheme, such as https:") }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard !never.contains(scheme) else { return .denied("addresses of the scheme \(scheme) are never opened") }
        guard always.contains(scheme) || isAllowed(scheme) else {
            return .denied(
                "addresses of the scheme \(scheme) are not allowed on this device; its owner allows them by "
                    + "`aldaba relay allow \(scheme)`")
        }
        return .allowed(scheme: scheme)
    }

    /// The scheme of an address, in lower case; `nil` for one that is never opened.
    public static func scheme(of uri: String) -> String? {
        if case .allowed(let scheme) = verdict(on: uri, isAllowed: { _ in true }) { scheme } else { nil }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
