/// The strong validator of a representation, `"…"` (RFC 9110, section 8.8.3), and the conditions that name it.
package struct EntityTag: Sendable, Hashable {
    /// The tag as the field `ETag` has it, with its quotation marks.
    package let text: String

    /// Makes a tag; quotation marks and what no tag may have are left out of it.
    package init(_ opaque: String) {
        text = "\"\(String(opaque.unicodeScalars.filter { $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" }))\""
    }

    /// Whether a field `If-None-Match` names this tag, by the weak comparison, or any (`*`); then the client has it.
    package func isNamed(inIfNoneMatch field: String?) -> Bool {
        guard let field else { return false }
        var rest = Array(field.utf8)[...]
        let wanted = Array(text.utf8)
        func skip(_ bytes: [UInt8]) { while let byte = rest.first, bytes.contains(byte) { rest = rest.dropFirst() } }
        skip([0x20, 0x09])
        if rest.elementsEqual("*".utf8) { return true }
        while !rest.isEmpty {
            skip([0x20, 0x09, UInt8(ascii: ",")])
            if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""),
                let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\""))
            else { return false }
            let tag = rest[...end]
            rest = rest[(end + 1)...]
            // What follows a tag without a comma makes it no list.
            guard rest.first.map([0x20, 0x09, UInt8(ascii: ",")].contains) ?? true else { return false }
            if tag.elementsEqual(wanted) { return true }
        }
        return false
    }

    /// Whether a field `If-Range` lets a range of this representation be sent; a date never does, since none is sent.
    package func allowsRange(ifRange field: String?) -> Bool { field == nil || field == text }
}
