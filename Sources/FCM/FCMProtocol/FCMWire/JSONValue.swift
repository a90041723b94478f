import APNsProtocol

/// A JSON value (RFC 8259). Members keep their order, numbers the digits in which they were written.
package enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number as it is written.
    case number(String)
    /// A string, without its escapes.
    case string(String)
    /// The elements of an array.
    case array([JSONValue])
    /// The members of an object. Names may come more than once.
    case object([Member])

    /// A member of an object.
    package struct Member: Hashable, Sendable {
        /// The member's name.
        package var name: String
        /// The member's value.
        package var value: JSONValue

        /// Makes a member.
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Reads a body that is one JSON object.
    ///
    /// - Throws: what is wrong and where.
    package init(object bytes: [UInt8]) throws(JSONScanner.Fault) {
        if let fault = JSONScanner.fault(inObject: bytes) { throw fault }
        var cursor = JSONCursor(bytes)
        self.init(reading: &cursor)
    }

    /// The text of a string; `nil` for any other value.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The members of an object; `nil` for any other value.
    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The value of an object's last member of that name.
    package subscript(name: String) -> JSONValue? { members?.last { $0.name == name }?.value }

    /// The kind of value, in words.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The value's text, without white space.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let isTrue): bytes += (isTrue ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += "\\n".utf8
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONValue {
    /// Reads the value that comes next. ``JSONScanner``'s limit of depth bounds the recursion.
    private init(reading cursor: inout JSONCursor) {
        cursor.skipWhiteSpace()
        switch cursor.peek {
        case UInt8(ascii: "{"):
            var members: [Member] = []
            cursor.readMembers { cursor, name, _ in members.append(Member(name, JSONValue(reading: &cursor))) }
            self = .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            cursor.readElements { elements.append(JSONValue(reading: &$0)) }
            self = .array(elements)
        case UInt8(ascii: "\""): self = .string(cursor.readString())
        default:
            switch cursor.readBareWord() {
            case "true": self = .boolean(true)
            case "false": self = .boolean(false)
            case "null": self = .null
            case let digits: self = .number(digits)
            }
        }
    }
}
