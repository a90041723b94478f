/// Well-known names on a message bus (D-Bus Specification, "Bus names").
package enum BusName {
    /// Whether a text is a well-known bus name: two or more words of `A-Z a-z 0-9 _ -`, none of which begins with a
    /// digit, with dots between them; at most 255 bytes (D-Bus Specification, "Bus names").
    package static func isValid(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && words.count >= 2
            && words.allSatisfy { word in
                guard let first = word.first, !isDigit(first) else { return false }
                return word.allSatisfy {
                    isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                }
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
}
