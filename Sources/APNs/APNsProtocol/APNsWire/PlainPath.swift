import PushCore

/// Request paths in their plain form: what a client percent-encoded without need is decoded.
package enum PlainPath {
    /// Decodes the unreserved characters (RFC 3986, section 6.2.2.2) and the colon; a query and other encodings stay as they are.
    package static func bytes(_ path: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(path)
        var result: [UInt8] = []
        var offset = 0
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "?") {
            if bytes[offset] == UInt8(ascii: "%"), offset + 2 < bytes.count,
                let high = Hexadecimal.value(bytes[offset + 1]),
                let low = Hexadecimal.value(bytes[offset + 2]), isPlain(high << 4 | low)
            {
                result.append(high << 4 | low)
                offset += 3
            } else {
                result.append(bytes[offset])
                offset += 1
            }
        }
        return result + bytes[offset...]
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte) || "-._~:".utf8.contains(byte)
    }
}
