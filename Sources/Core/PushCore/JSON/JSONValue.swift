/// A JSON value (RFC 8259). Members keep their order, numbers the digits in which they were written.
package enum JSONValue: Hashable, Sendable {
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

        /// The name's bytes and the value's ``JSONValue/payloadBytes``.
        package var payloadBytes: Int { name.utf8.count + value.payloadBytes }
    }

    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number, as it was written.
    case number(String)
    /// A string.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// An object; its members in the order of the text.
    case object([Member])

    /// Objects and lists that may stand inside one another; deeper ones are not read.
    package static let maximumDepth = 64

    /// How many objects and lists stand inside one another: 0 for what is none.
    package var depth: Int {
        switch self {
        case .null, .boolean, .number, .string: 0
        case .array(let items): 1 + (items.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
        }
    }

    /// The bytes that count towards FCM's limit: of names, of strings without quotes and escapes, and of other values as they are
    /// written.
    package var payloadBytes: Int {
        switch self {
        case .null: 4
        case .boolean(let isTrue): isTrue ? 4 : 5
        case .number(let digits): digits.utf8.count
        case .string(let text): text.utf8.count
        case .array(let items): items.reduce(0) { $0 + $1.payloadBytes }
        case .object(let members): members.reduce(0) { $0 + $1.payloadBytes }
        }
    }

    /// Reads a text; at most ``maximumDepth`` containers may stand inside one another.
    package init(_ bytes: some Collection<UInt8>) throws(JSONScanner.Fault) {
        let bytes = Array(bytes)
        if let fault = JSONScanner.fault(in: bytes, depthLimit: Self.maximumDepth) { throw fault }
        var cursor = JSONCursor(bytes)
        self.init(reading: &cursor)
    }

    /// Reads a text.
    package init(text: String) throws(JSONScanner.Fault) { try self.init(text.utf8) }

    /// Reads a body that is one JSON object; at most ``JSONScanner/maximumDepth`` containers may be inside one another.
    package init(object bytes: [UInt8]) throws(JSONScanner.Fault) {
        if let fault = JSONScanner.fault(inObject: bytes) { throw fault }
        var cursor = JSONCursor(bytes)
        self.init(reading: &cursor)
    }

    /// The value of the last member of that name; `nil` where there is none, and where this is no object.
    package subscript(name: String) -> JSONValue? { members?.last { $0.name == name }?.value }

    /// The kind of the value, for messages.
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

    /// Replaces the value of a member, or adds it at the end; `nil` takes it away. No effect on what is no object.
    package mutating func set(_ name: String, _ value: JSONValue?) {
        guard case .object(var members) = self else { return }
        guard let value else {
            members.removeAll { $0.name == name }
            self = .object(members)
            return
        }
        if let place = members.lastIndex(where: { $0.name == name }) {
            members[place].value = value
        } else {
            members.append(Member(name, value))
        }
        self = .object(members)
    }

    /// The text of a string; `nil` for everything else.
    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The items of a list; `nil` for everything else.
    package var items: [JSONValue]? { if case .array(let items) = self { items } else { nil } }

    /// The members of an object; `nil` for everything else.
    package var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    /// A whole number that fits; `nil` for everything else.
    package var integer: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }

    /// `true` or `false`; `nil` for everything else.
    package var isTrue: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The tree as JSON, without blanks.
    package var bytes: [UInt8] {
        var result: [UInt8] = []
        write(into: &result)
        return result
    }

    /// The tree as JSON text, without blanks.
    package var json: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends the tree as JSON, without blanks.
    package func write(into result: inout [UInt8]) {
        switch self {
        case .null: result += "null".utf8
        case .boolean(let value): result += (value ? "true" : "false").utf8
        case .number(let text): result += text.utf8
        case .string(let text): Self.write(text, into: &result)
        case .array(let items):
            result.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { result.append(UInt8(ascii: ",")) }
                item.write(into: &result)
            }
            result.append(UInt8(ascii: "]"))
        case .object(let members):
            result.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { result.append(UInt8(ascii: ",")) }
                Self.write(member.name, into: &result)
                result.append(UInt8(ascii: ":"))
                member.value.write(into: &result)
            }
            result.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string of JSON, in its quotation marks.
    package static func write(_ text: String, into result: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        result.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): result += "\\n".utf8
            case UInt8(ascii: "\r"): result += "\\r".utf8
            case UInt8(ascii: "\t"): result += "\\t".utf8
            case 0..<0x20:
                result += "\\u00".utf8
                result += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: result.append(byte)
            }
        }
        result.append(UInt8(ascii: "\""))
    }

    /// Whether a text is a number as JSON writes it (RFC 8259, section 6).
    package static func isNumber(_ text: String) -> Bool {
        guard case .number(let read)? = try? JSONValue(text: text) else { return false }
        return read == text
    }
}

extension JSONValue {
    /// Reads the value that comes next, of a text that was scanned: the limit of its depth bounds the recursion.
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
