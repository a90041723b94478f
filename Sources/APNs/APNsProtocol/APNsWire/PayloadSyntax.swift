import PushCore

/// Finds the intended text where a payload is no JSON object: mistakes of typing, of editors and of other languages'
/// syntax.
struct PayloadSyntax {
    typealias Finding = PayloadDiagnosis.Finding

    private let bytes: [UInt8]
    private let fault: JSONScanner.Fault
    private let trail: JSONTrail

    init(_ bytes: [UInt8], _ fault: JSONScanner.Fault) {
        self.bytes = bytes
        self.fault = fault
        trail = JSONTrail(bytes, until: fault.offset)
    }

    /// The most specific finding; the scanner's own message where no rule explains the fault.
    var finding: Finding {
        encoding ?? opening ?? end ?? insideString ?? afterString ?? typographic ?? comma ?? separator ?? word
            ?? trailing ?? Finding(offset: fault.offset, what: fault.message, meant: nil)
    }

    // MARK: What stands at the fault

    private var byte: UInt8? { fault.offset < bytes.count ? bytes[fault.offset] : nil }

    /// The character at the fault.
    private var scalar: Unicode.Scalar? {
        guard fault.offset < bytes.count else { return nil }
        return String(decoding: bytes[fault.offset...].prefix(4), as: UTF8.self).unicodeScalars.first
    }

    /// The offset of the last byte before the fault that is no white space.
    private var previous: Int? {
        bytes[..<min(fault.offset, bytes.count)].lastIndex { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
    }

    private func isPrevious(_ character: Unicode.Scalar) -> Bool {
        previous.map { bytes[$0] == UInt8(ascii: character) } ?? false
    }

    private func expects(_ words: String) -> Bool { fault.message.hasPrefix("expected \(words)") }

    /// A byte as a message shows it.
    private static func shown(_ byte: UInt8) -> String { "'\(Character(Unicode.Scalar(byte)))'" }

    private func place(_ offset: Int) -> String {
        let line = bytes[..<offset].count(where: { $0 == 0x0A }) + 1
        let start = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return "line \(line), column \(String(decoding: bytes[start..<offset], as: UTF8.self).unicodeScalars.count + 1)"
    }

    // MARK: The mistakes, in the order in which they are looked for

    private var encoding: Finding? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            return Finding(
                offset: 0, what: "the file begins with a byte order mark",
                meant: "save it as UTF-8 without one")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return Finding(offset: 0, what: "the file is UTF-16", meant: "save it as UTF-8")
        }
        guard fault.message == "not UTF-8" else { return nil }
        return Finding(offset: fault.offset, what: "a byte that is not UTF-8", meant: "save the file as UTF-8")
    }

    /// The payload does not begin with a brace.
    private var opening: Finding? {
        guard previous == nil, let byte, byte != UInt8(ascii: "{") else {
            return bytes.allSatisfy { [0x20, 0x0A, 0x0D, 0x09].contains($0) }
                ? Finding(offset: 0, what: "the payload is empty", meant: "write {\"aps\":{\"alert\":\"…\"}}") : nil
        }
        switch byte {
        case UInt8(ascii: "'"):
            return Finding(
                offset: fault.offset, what: "the payload stands in single quotes",
                meant: "leave them out: they are the shell's")
        case UInt8(ascii: "["):
            return Finding(
                offset: fault.offset, what: "the payload is an array", meant: "write one object: {\"aps\":{…}}")
        case UInt8(ascii: "\""), UInt8(ascii: "a")...UInt8(ascii: "z"):
            let colon = bytes[fault.offset...].firstIndex(of: UInt8(ascii: ":"))
            let brace = bytes[fault.offset...].firstIndex(of: UInt8(ascii: "{"))
            guard let colon, colon < brace ?? bytes.count else { return nil }
            return Finding(
                offset: fault.offset, what: "the payload does not begin with '{'",
                meant: "write '{' before it and '}' behind it")
        default: return nil
        }
    }

    /// The payload ends too early.
    private var end: Finding? {
        guard fault.offset >= bytes.count, fault.message != "the body is empty" else { return nil }
        if let open = trail.openString {
            return afterString
                ?? Finding(
                    offset: open, what: "the string that begins here has no closing quote",
                    meant: "write '\"' behind it")
        }
        guard let innermost = trail.open.last else { return nil }
        let closing = String(decoding: trail.open.reversed().map { Self.closing(bytes[$0]) }, as: UTF8.self)
        return Finding(
            offset: (previous ?? 0) + 1,
            what: "the payload ends, and the \(Self.shown(bytes[innermost])) of \(place(innermost)) is not closed",
            meant: "write \(closing) behind it")
    }

    private static func closing(_ opening: UInt8) -> UInt8 {
        opening == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
    }

    /// A control character or an escape that JSON does not have.
    private var insideString: Finding? {
        if fault.message.hasPrefix("control character"), let open = trail.openString {
            if byte == 0x0A || byte == 0x0D {
                return afterString
                    ?? Finding(
                        offset: fault.offset, what: "a line break inside the string of \(place(open))",
                        meant: "close the string with '\"', or write the line break as \\n")
            }
            return Finding(
                offset: fault.offset, what: byte == 0x09 ? "a tab inside a string" : fault.message,
                meant: byte == 0x09 ? "write \\t" : nil)
        }
        guard fault.message == "unknown escape in a string", fault.offset + 1 < bytes.count else { return nil }
        switch bytes[fault.offset + 1] {
        case UInt8(ascii: "'"):
            return Finding(offset: fault.offset, what: "JSON has no escape \\'", meant: "write ' alone")
        case UInt8(ascii: "x"):
            return Finding(offset: fault.offset, what: "JSON has no escape \\x", meant: "write \\u00 and two digits")
        default:
            return Finding(
                offset: fault.offset, what: "an escape that JSON does not have", meant: "write \\\\ for a backslash")
        }
    }

    /// The string before the fault ends elsewhere than was meant.
    private var afterString: Finding? {
        let string = trail.openString.map { $0..<min(fault.offset, bytes.count) } ?? trail.lastString
        guard let string else { return nil }
        let text = bytes[string]
        // A typographic quote that was to close the string: what follows it is what follows a string.
        for (offset, scalar) in JSONTrail.scalars(text) where Self.quotes.contains(scalar) {
            let next = bytes[(offset + String(scalar).utf8.count)...].first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
            if let next, ":,}]".utf8.contains(next) { return Self.typographic(scalar, offset) }
        }
        guard expects("',' or") || expects("':'"), string.upperBound == fault.offset, let byte,
            Self.isLetter(byte) || byte >= 0x80
        else { return nil }
        return Finding(
            offset: fault.offset - 1, what: "the string ends at this quote, and text follows it",
            meant: "write \\\" for a quote inside a string")
    }

    private static let quotes: Set<Unicode.Scalar> = [
        "\u{201C}", "\u{201D}", "\u{201E}", "\u{201F}", "\u{00AB}", "\u{00BB}", "\u{2033}", "\u{FF02}", "\u{2018}",
        "\u{2019}", "\u{201A}", "\u{2032}",
    ]
    private static let blanks: Set<Unicode.Scalar> = [
        "\u{00A0}", "\u{2007}", "\u{202F}", "\u{2009}", "\u{200A}", "\u{200B}", "\u{2028}", "\u{3000}", "\u{FEFF}",
    ]

    private static func typographic(_ scalar: Unicode.Scalar, _ offset: Int) -> Finding {
        Finding(offset: offset, what: "a typographic quotation mark \(scalar)", meant: "write a plain \"")
    }

    private var typographic: Finding? {
        guard let scalar else { return nil }
        if Self.quotes.contains(scalar) { return Self.typographic(scalar, fault.offset) }
        if Self.blanks.contains(scalar) {
            let number = String(scalar.value, radix: 16, uppercase: true)
            return Finding(
                offset: fault.offset,
                what: "an invisible character (U+\(String(repeating: "0", count: max(0, 4 - number.count)))\(number))",
                meant: "write an ordinary blank, or nothing")
        }
        let plain: [Unicode.Scalar: String] = ["\u{FF0C}": ",", "\u{FF1A}": ":", "\u{FF5B}": "{", "\u{FF5D}": "}"]
        if let plain = plain[scalar] {
            return Finding(offset: fault.offset, what: "a full-width \(scalar)", meant: "write \(plain)")
        }
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "`"):
            return Finding(
                offset: fault.offset, what: "a quote \(scalar)", meant: "JSON's strings stand in \"double quotes\"")
        case UInt8(ascii: "/"), UInt8(ascii: "#"):
            return Finding(offset: fault.offset, what: "a comment", meant: "leave it out: JSON has none")
        default: return nil
        }
    }

    /// Commas too many.
    private var comma: Finding? {
        if let byte, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]"), isPrevious(","), let previous {
            return Finding(
                offset: previous, what: "a comma before \(Self.shown(byte))", meant: "leave the comma out")
        }
        guard byte == UInt8(ascii: ","), let previous else { return nil }
        switch bytes[previous] {
        case UInt8(ascii: ","): return Finding(offset: fault.offset, what: "a second comma", meant: "leave it out")
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return Finding(offset: fault.offset, what: "a comma with nothing before it", meant: "leave it out")
        case UInt8(ascii: ":"): return Finding(offset: fault.offset, what: "a key without a value", meant: nil)
        default: return nil
        }
    }

    /// Another separator than the one that belongs here, or none.
    private var separator: Finding? {
        guard let byte, let previous else { return nil }
        if expects("':'") {
            switch byte {
            case UInt8(ascii: "="): return Finding(offset: fault.offset, what: "'=' after a key", meant: "write ':'")
            case UInt8(ascii: ","), UInt8(ascii: "}"):
                return Finding(offset: previous + 1, what: "a key without a value", meant: "write ':' and the value")
            default: return Finding(offset: previous + 1, what: "no ':' after a key", meant: "write ':'")
            }
        }
        guard expects("',' or") else { return nil }
        switch byte {
        case UInt8(ascii: ";"): return Finding(offset: fault.offset, what: "';' between members", meant: "write ','")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard let open = trail.open.last else { return nil }
            return Finding(
                offset: fault.offset,
                what: "\(Self.shown(byte)) where the \(Self.shown(bytes[open])) of \(place(open)) is to be closed",
                meant: "write \(Self.shown(Self.closing(bytes[open])))")
        case UInt8(ascii: ":"):
            return Finding(
                offset: fault.offset, what: "a second ':' in one member",
                meant: "write '{' before the inner key, or ',' where this ':' is")
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            return Finding(offset: previous + 1, what: "no comma after this value", meant: "write ','")
        default: return nil
        }
    }

    /// The finding on a name or a value without quotes, or in another language's syntax.
    private var word: Finding? {
        guard let byte, expects("a") || expects("true") || expects("false") || expects("null") else { return nil }
        if expects("a value"), byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]"), isPrevious(":") {
            return Finding(
                offset: fault.offset, what: "a key without a value", meant: "write the value before \(Self.shown(byte))"
            )
        }
        if byte == UInt8(ascii: "{"), expects("a key") {
            return Finding(
                offset: fault.offset, what: "an object where a key is expected", meant: "write \"name\": before it")
        }
        if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "<") {
            return Finding(
                offset: fault.offset, what: "a placeholder that was not filled in",
                meant: "write the value, a text in quotes")
        }
        guard Self.isLetter(byte) else { return nil }
        let name = String(
            decoding: bytes[fault.offset...].prefix(40).prefix {
                Self.isLetter($0) || $0 == 0x2D || (0x30...0x39).contains($0)
            },
            as: UTF8.self)
        if expects("a key") {
            return Finding(offset: fault.offset, what: "the key \(name) without quotes", meant: "write \"\(name)\"")
        }
        let values = [
            "true": "true", "false": "false", "none": "null", "nil": "null", "null": "null", "undefined": "null",
            "yes": "true", "no": "false", "nan": "null",
        ]
        return Finding(
            offset: fault.offset, what: "the word \(name)", meant: "write \(values[name.lowercased()] ?? "\"\(name)\"")"
        )
    }

    /// Something behind the object.
    private var trailing: Finding? {
        guard fault.message == "unexpected bytes after the object", let byte else { return nil }
        switch byte {
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return Finding(offset: fault.offset, what: "one \(Self.shown(byte)) too many", meant: "leave it out")
        case UInt8(ascii: "{"):
            return Finding(
                offset: fault.offset, what: "a second object", meant: "send one payload at a time")
        case UInt8(ascii: ","):
            return Finding(
                offset: (previous ?? fault.offset), what: "the payload ends at this '}', and more follows it",
                meant: "leave this '}' out, and write it at the end")
        default: return Finding(offset: fault.offset, what: "text behind the payload", meant: "leave it out")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }
}

/// The state of a JSON reader at an offset: the open containers, and the last string.
struct JSONTrail {
    /// The offsets of the braces and brackets that are open, the innermost last.
    private(set) var open: [Int] = []
    /// The offset of the opening quote of the string that is open.
    private(set) var openString: Int?
    /// The last string that was closed, with its quotes.
    private(set) var lastString: Range<Int>?

    init(_ bytes: [UInt8], until end: Int) {
        var isEscaped = false
        for (offset, byte) in bytes[..<min(end, bytes.count)].enumerated() {
            if let start = openString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    openString = nil
                    lastString = start..<offset + 1
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): openString = offset
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(offset)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
            default: break
            }
        }
    }

    /// The characters of a text, each with its offset.
    static func scalars(_ text: ArraySlice<UInt8>) -> [(offset: Int, scalar: Unicode.Scalar)] {
        var offset = text.startIndex
        return String(decoding: text, as: UTF8.self).unicodeScalars.map { scalar in
            defer { offset += String(scalar).utf8.count }
            return (offset, scalar)
        }
    }
}
