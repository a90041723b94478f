import Foundation

/// An identifier of an app's as a form's value or as a part of a path: base64url (RFC 4648, section 5) of its UTF-8.
///
/// A browser changes line breaks in forms, and a path has characters of its own; this form passes both unchanged.
package enum EncodedName {
    /// The identifier in letters, digits, `-` and `_`.
    package static func encode(_ name: String) -> String {
        Data(name.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    /// The identifier of an encoded name; `nil` for any other text.
    package static func decode(_ text: String) -> String? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Data(base64Encoded: plain + padding).flatMap { String(bytes: $0, encoding: .utf8) }
    }
}
