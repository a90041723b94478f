import PushCore

/// A JSON value with its position in its text.
struct LocatedJSON {
    /// The contents of a value, by its kind.
    indirect enum Value {
        case object([Member])
        case array([LocatedJSON])
        case string(String)
        /// The number as it is written.
        case number(String)
        case boolean
        case null
    }

    /// A member of an object. Names may occur more than once.
    struct Member {
        var name: String
        /// The offset of the name's opening quote.
        var offset: Int
        var value: LocatedJSON
    }

    /// The offset of the value's first byte.
    var offset: Int
    var value: Value

    /// The members of an object; `nil` for any other value.
    var members: [Member]? {
        guard case .object(let members) = value else { return nil }
        return members
    }

    /// Reads a body; `nil` for one in which ``JSONScanner`` finds a fault.
    init?(object bytes: [UInt8]) {
        guard JSONScanner.fault(inObject: bytes) == nil else { return nil }
        var cursor = JSONCursor(bytes)
        self.init(reading: &cursor)
    }
}

extension LocatedJSON {
    /// Reads the value that comes next. ``JSONScanner``'s limit of depth bounds the recursion.
    fileprivate init(reading cursor: inout JSONCursor) {
        cursor.skipWhiteSpace()
        offset = cursor.offset
        switch cursor.peek {
        case UInt8(ascii: "{"):
            var members: [Member] = []
            cursor.readMembers { cursor, name, offset in
                members.append(Member(name: name, offset: offset, value: LocatedJSON(reading: &cursor)))
            }
            value = .object(members)
        case UInt8(ascii: "["):
            var elements: [LocatedJSON] = []
            cursor.readElements { elements.append(LocatedJSON(reading: &$0)) }
            value = .array(elements)
        case UInt8(ascii: "\""): value = .string(cursor.readString())
        default:
            switch cursor.readBareWord() {
            case "true", "false": value = .boolean
            case "null": value = .null
            case let digits: value = .number(digits)
            }
        }
    }
}
