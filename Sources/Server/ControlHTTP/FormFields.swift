/// The fields of an `application/x-www-form-urlencoded` body (URL Standard, section 5.1), in their order.
package struct FormFields: Sendable {
    private var fields: [(name: String, value: String)] = []

    /// Reads a body, or the part of an address after its question mark.
    package init(_ text: String) {
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            let pieces = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            fields.append((Self.decode(pieces[0]), pieces.count > 1 ? Self.decode(pieces[1]) : ""))
        }
    }

    /// The names of the fields, in their order.
    package var names: [String] { fields.map(\.name) }

    /// The value of the first field of that name.
    package func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Pluses are blanks, `%XX` is a byte; a percent sign without two digits stands for itself.
    private static func decode(_ bytes: some Collection<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
