/// The part of a representation that a request asks for by its field `Range` (RFC 9110, section 14).
///
/// One range of bytes is understood. Several at once, other units and malformed fields ask for the whole, as the
/// section allows: a client that asks so must be able to take it.
package enum ByteRange: Sendable, Hashable {
    /// Everything: status 200.
    case whole
    /// A range of bytes, at least one and all within the representation: status 206.
    case part(Range<Int64>)
    /// Bytes that the representation does not have: status 416.
    case unsatisfiable

    /// Reads the field; `nil` for a request without one.
    ///
    /// - Parameter length: The bytes of the representation; below zero counts as zero.
    package init(field: String?, length: Int64) {
        let length = max(0, length)
        guard let field, let asked = Self.bounds(field) else {
            self = .whole
            return
        }
        switch asked {
        case .last(let count):
            self = count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        case .from(let first, let last):
            // A last byte beyond the end means the end.
            self = first >= length ? .unsatisfiable : .part(first..<(min(last, length - 1) + 1))
        }
    }

    private enum Bounds {
        case last(Int64)
        case from(Int64, through: Int64)
    }

    /// The bounds in `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`; `nil` for anything else.
    private static func bounds(_ field: String) -> Bounds? {
        let parts = field.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].elementsEqual("bytes".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        var value = parts[1]
        while let byte = value.first, isBlank(byte) { value = value.dropFirst() }
        while let byte = value.last, isBlank(byte) { value = value.dropLast() }
        guard let dash = value.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let (first, last) = (value[..<dash], value[value.index(after: dash)...])
        if first.isEmpty { return number(last).map(Bounds.last) }
        guard let begin = number(first) else { return nil }
        if last.isEmpty { return .from(begin, through: .max) }
        guard let end = number(last), begin <= end else { return nil }
        return .from(begin, through: end)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// A number in digits; one that is larger than any length is the largest.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var result: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            let (product, isLarge) = result.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = product.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            result = isLarge || isLarger ? .max : sum
        }
        return result
    }
}
