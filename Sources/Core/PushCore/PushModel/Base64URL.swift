import Foundation

/// Base64 with the URL alphabet (RFC 4648, section 5).
package enum Base64URL {
    /// Decodes with or without padding; `nil` for anything that is not base64url.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var standard: [UInt8] = []
        standard.reserveCapacity(text.count + 2)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"): return nil
            default: standard.append(byte)
            }
        }
        if !standard.contains(UInt8(ascii: "=")) {
            while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        }
        return Data(base64Encoded: Data(standard)).map { Array($0) }
    }

    /// Encodes without padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
