/// Reads one JSON text into a ``JSONTree``.
struct JSONReader {
    let bytes: [UInt8]
    private var offset = 0
    private var depth = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private typealias Fault = JSONTree.Fault

    mutating func whole() throws(JSONTree.Fault) -> JSONTree {
        let tree = try value()
        skipBlanks()
        guard offset == bytes.count else { throw fault("unexpected text after the value") }
        return tree
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func fault(_ message: String) -> JSONTree.Fault { JSONTree.Fault(offset: offset, message: message) }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func value() throws(JSONTree.Fault) -> JSONTree {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return .number(try number())
        case nil: throw fault("the text ends where a value should stand")
        default: throw noValue
        }
    }

    private var noValue: JSONTree.Fault {
        fault("expected a value: an object, a list, a string, a number, true, false or null")
    }

    private mutating func word(_ text: StaticString, _ tree: JSONTree) throws(JSONTree.Fault) -> JSONTree {
        let count = text.utf8CodeUnitCount
        guard bytes.count - offset >= count else { throw noValue }
        for index in 0..<count where bytes[offset + index] != text.utf8Start[index] { throw noValue }
        offset += count
        return tree
    }

    private mutating func entered() throws(JSONTree.Fault) {
        depth += 1
        guard depth <= JSONTree.maximumDepth else {
            throw fault("more than \(JSONTree.maximumDepth) objects and lists stand inside one another")
        }
        offset += 1
        skipBlanks()
    }

    private mutating func object() throws(JSONTree.Fault) -> JSONTree {
        try entered()
        var members: [JSONTree.Member] = []
        if !take("}") {
            repeat {
                skipBlanks()
                guard next == UInt8(ascii: "\"") else {
                    throw fault("expected the name of a member in quotation marks")
                }
                let name = try string()
                skipBlanks()
                guard take(":") else { throw fault("expected ':'") }
                members.append(JSONTree.Member(name, try value()))
                skipBlanks()
            } while take(",")
            guard take("}") else { throw fault("expected ',' or '}'") }
        }
        depth -= 1
        return .object(members)
    }

    private mutating func array() throws(JSONTree.Fault) -> JSONTree {
        try entered()
        var items: [JSONTree] = []
        if !take("]") {
            repeat {
                items.append(try value())
                skipBlanks()
            } while take(",")
            guard take("]") else { throw fault("expected ',' or ']'") }
        }
        depth -= 1
        return .array(items)
    }

    private mutating func digits() -> Int {
        let start = offset
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        return offset - start
    }

    private mutating func number() throws(JSONTree.Fault) -> String {
        let start = offset
        _ = take("-")
        if !take("0"), digits() == 0 { throw fault("expected a digit") }
        if take("."), digits() == 0 { throw fault("expected a digit after the decimal point") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if digits() == 0 { throw fault("expected a digit in the exponent") }
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func string() throws(JSONTree.Fault) -> String {
        let start = offset
        offset += 1
        // Most strings have no escape: their bytes are taken unchanged.
        let plain = bytes.withUnsafeBufferPointer { bytes in
            bytes[offset...].firstIndex { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
                ?? bytes.count
        }
        if plain < bytes.count, bytes[plain] == UInt8(ascii: "\"") {
            guard let valid = String(validating: bytes[offset..<plain], as: UTF8.self) else {
                throw JSONTree.Fault(offset: start, message: "the string is not UTF-8")
            }
            offset = plain + 1
            return valid
        }
        var text = Array(bytes[offset..<plain])
        offset = plain
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                guard let valid = String(validating: text, as: UTF8.self) else {
                    throw JSONTree.Fault(offset: start, message: "the string is not UTF-8")
                }
                return valid
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &text)
            case 0..<0x20: throw fault("a control character in a string must be escaped")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw JSONTree.Fault(offset: start, message: "the string does not end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONTree.Fault) {
        guard let byte = next else { throw fault("the text ends in an escape") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += String(Character(try escapedScalar())).utf8
        default: throw fault("there is no such escape")
        }
    }

    /// Reads an escaped character. An unpaired surrogate becomes the replacement character, as in most readers.
    private mutating func escapedScalar() throws(JSONTree.Fault) -> Unicode.Scalar {
        let replacement: Unicode.Scalar = "\u{FFFD}"
        let first = try codeUnit()
        guard (0xD800...0xDBFF).contains(first) else { return Unicode.Scalar(first) ?? replacement }
        guard bytes.count - offset >= 6, bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u")
        else { return replacement }
        let place = offset
        offset += 2
        let second = try codeUnit()
        guard (0xDC00...0xDFFF).contains(second) else {
            offset = place
            return replacement
        }
        return Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)) ?? replacement
    }

    private mutating func codeUnit() throws(JSONTree.Fault) -> UInt32 {
        guard bytes.count - offset >= 4 else { throw fault("expected four hexadecimal digits") }
        var unit: UInt32 = 0
        for byte in bytes[offset..<offset + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: throw fault("expected four hexadecimal digits")
            }
        }
        offset += 4
        return unit
    }
}
