/// Checks that bytes are JSON (RFC 8259), without building values.
///
/// It exists because a parser that builds them would cost most of a request: the payload is carried
/// verbatim and only its validity is asked for. Strings must be well-formed UTF-8, numbers in the range of Double; nesting
/// is bounded.
package struct JSONScanner {
    /// A fault and its position.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The offset of the offending byte, from 0.
        package var offset: Int
        /// The text found or expected there, in words, without the payload's text.
        package var message: String
        package var description: String { "byte \(offset): \(message)" }
    }

    /// Objects and arrays inside one another; deeper ones are refused.
    package static let maximumDepth = 128
    /// Bytes of a number without an exponent that is certainly in range.
    private static let certainDigits = 308

    private let bytes: UnsafeBufferPointer<UInt8>
    private let depthLimit: Int
    private let refusesLoneSurrogates: Bool
    private var offset = 0
    private var namesAPS = false

    private init(
        _ bytes: UnsafeBufferPointer<UInt8>, depthLimit: Int = maximumDepth, refusesLoneSurrogates: Bool = true
    ) {
        self.bytes = bytes
        self.depthLimit = depthLimit
        self.refusesLoneSurrogates = refusesLoneSurrogates
    }

    /// The result of a scan.
    package struct ScanResult: Hashable, Sendable {
        /// The fault; `nil` when the body is one JSON object with nothing but white space around it.
        package var fault: Fault?
        /// Whether the object has a member `aps`. A name with an escape in it counts as one: it is not decoded.
        package var namesAPS: Bool
    }

    /// Checks a whole body.
    ///
    /// - Returns: `nil` when it is one JSON object with nothing but white space around it.
    package static func fault(inObject bytes: UnsafeBufferPointer<UInt8>) -> Fault? { scan(ofObject: bytes).fault }

    /// Checks a whole body, and reports whether it has a member `aps`.
    package static func scan(ofObject bytes: [UInt8]) -> ScanResult {
        bytes.withUnsafeBufferPointer { scan(ofObject: $0) }
    }

    private static func scan(ofObject bytes: UnsafeBufferPointer<UInt8>) -> ScanResult {
        var scanner = JSONScanner(bytes)
        let fault = scanner.scanObject()
        return ScanResult(fault: fault, namesAPS: scanner.namesAPS)
    }

    private mutating func scanObject() -> Fault? {
        do throws(Fault) {
            skipWhiteSpace()
            guard peek == UInt8(ascii: "{") else {
                let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
                return Fault(
                    offset: offset,
                    message: bytes.isEmpty
                        ? "the body is empty"
                        : hasMark
                            ? "a byte order mark: the payload must begin with '{'"
                            : "expected '{': the payload must be a JSON object")
            }
            try scanContainers()
            skipWhiteSpace()
            guard offset == bytes.count else {
                return Fault(offset: offset, message: "unexpected bytes after the object")
            }
            return nil
        } catch {
            return error
        }
    }

    /// Checks a whole body.
    package static func fault(inObject bytes: [UInt8]) -> Fault? {
        bytes.withUnsafeBufferPointer { fault(inObject: $0) }
    }

    /// Checks a text that may be a value of any kind. Half of a surrogate pair is allowed, as most readers do.
    ///
    /// - Parameter depthLimit: The number of objects and arrays that may be inside one another, at most ``maximumDepth``.
    /// - Returns: `nil` when it is one value with nothing but white space around it.
    package static func fault(in bytes: [UInt8], depthLimit: Int = maximumDepth) -> Fault? {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(
                bytes, depthLimit: min(depthLimit, maximumDepth), refusesLoneSurrogates: false)
            scanner.skipWhiteSpace()
            let start = scanner.offset
            do throws(Fault) {
                try scanner.scanContainers()
                scanner.skipWhiteSpace()
                return scanner.offset == bytes.count ? nil : scanner.fault("unexpected bytes after the value")
            } catch {
                guard error.offset == start, error.message.hasPrefix("expected") else { return error }
                return Fault(
                    offset: start,
                    message: "expected a value: an object, a list, a string, a number, true, false or null")
            }
        }
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func fault(_ message: String) -> Fault { Fault(offset: offset, message: message) }

    private mutating func skipWhiteSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// Scans the object or array at the offset with its contents. A stack of kinds replaces recursion.
    private mutating func scanContainers() throws(Fault) {
        // One bit a level, 1 for an object; maximumDepth fits the two words.
        var kinds: (UInt64, UInt64) = (0, 0)
        var depth = 0
        func push(_ isObject: Bool) {
            kinds.1 = kinds.1 << 1 | kinds.0 >> 63
            kinds.0 = kinds.0 << 1 | (isObject ? 1 : 0)
        }
        func pop() {
            kinds.0 = kinds.0 >> 1 | kinds.1 << 63
            kinds.1 >>= 1
        }
        while true {
            skipWhiteSpace()
            guard let byte = peek else { throw fault("the text ends inside a value") }
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                guard depth < depthLimit else { throw fault("nested deeper than \(depthLimit) levels") }
                let isObject = byte == UInt8(ascii: "{")
                push(isObject)
                depth += 1
                offset += 1
                skipWhiteSpace()
                if peek != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    if isObject { try scanKey(depth) }
                    continue
                }
            } else {
                try scanScalar(byte)
            }
            // A value has ended: close what it ends, until a comma asks for the next.
            closing: while depth > 0 {
                skipWhiteSpace()
                let isObject = kinds.0 & 1 == 1
                switch peek {
                case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
                    offset += 1
                    depth -= 1
                    pop()
                case UInt8(ascii: ","):
                    offset += 1
                    skipWhiteSpace()
                    if isObject { try scanKey(depth) }
                    break closing
                case nil:
                    throw fault("the text ends inside \(isObject ? "an object" : "an array")")
                default:
                    throw fault("expected ',' or '\(isObject ? "}" : "]")'")
                }
            }
            if depth == 0 { return }
        }
    }

    private mutating func scanKey(_ depth: Int) throws(Fault) {
        guard peek == UInt8(ascii: "\"") else { throw fault("expected a key in double quotes") }
        let start = offset
        try scanString()
        if depth == 1, !namesAPS { namesAPS = isAPS(start..<offset) }
        skipWhiteSpace()
        guard peek == UInt8(ascii: ":") else { throw fault("expected ':' after a key") }
        offset += 1
    }

    /// Whether a key, with its quotes, is `aps` or may be it under escapes.
    private func isAPS(_ key: Range<Int>) -> Bool {
        let name = bytes[key]
        return name.elementsEqual("\"aps\"".utf8) || name.contains(UInt8(ascii: "\\"))
    }

    private mutating func scanScalar(_ byte: UInt8) throws(Fault) {
        switch byte {
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
        case UInt8(ascii: "t"): try scanWord("true")
        case UInt8(ascii: "f"): try scanWord("false")
        case UInt8(ascii: "n"): try scanWord("null")
        default: throw fault("expected a value")
        }
    }

    private mutating func scanWord(_ word: StaticString) throws(Fault) {
        let count = word.utf8CodeUnitCount
        guard offset + count <= bytes.count else { throw fault("expected \(word)") }
        for index in 0..<count where bytes[offset + index] != word.utf8Start[index] {
            throw fault("expected \(word)")
        }
        offset += count
    }

    private mutating func scanDigits() throws(Fault) {
        guard let first = peek, (0x30...0x39).contains(first) else { throw fault("expected a digit") }
        while let byte = peek, (0x30...0x39).contains(byte) { offset += 1 }
    }

    /// Scans a number. One that no Double holds is refused, as every reader that builds values refuses it.
    private mutating func scanNumber() throws(Fault) {
        let start = offset
        if peek == UInt8(ascii: "-") { offset += 1 }
        if peek == UInt8(ascii: "0") {
            offset += 1
            if let byte = peek, (0x30...0x39).contains(byte) { throw fault("a number may not begin with 0") }
        } else {
            try scanDigits()
        }
        if peek == UInt8(ascii: ".") {
            offset += 1
            try scanDigits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            offset += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
            try scanDigits()
            try checkRange(start)
        } else if offset - start > Self.certainDigits {
            try checkRange(start)
        }
    }

    private func checkRange(_ start: Int) throws(Fault) {
        guard Double(String(decoding: bytes[start..<offset], as: UTF8.self))?.isFinite != true else { return }
        throw Fault(offset: start, message: "number out of range: its magnitude may be at most 1.7976931348623157e308")
    }

    private mutating func scanString() throws(Fault) {
        offset += 1
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return
            case UInt8(ascii: "\\"):
                try scanEscape()
            case 0..<0x20:
                throw fault("control character in a string; it must be escaped")
            case 0..<0x80:
                offset += 1
            default:
                try scanMultibyte(byte)
            }
        }
        throw fault("the text ends inside a string")
    }

    private mutating func scanEscape() throws(Fault) {
        let start = offset
        offset += 1
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 1
        case UInt8(ascii: "u"):
            offset += 1
            let unit = try scanHexadecimal(start)
            guard refusesLoneSurrogates, (0xD800...0xDFFF).contains(unit) else { return }
            let pairStart = offset
            guard unit < 0xDC00, peek == UInt8(ascii: "\\"), offset + 1 < bytes.count,
                bytes[offset + 1] == UInt8(ascii: "u")
            else { throw Fault(offset: start, message: "half of a surrogate pair") }
            offset += 2
            guard (0xDC00...0xDFFF).contains(try scanHexadecimal(pairStart)) else {
                throw Fault(offset: pairStart, message: "expected the second half of a surrogate pair")
            }
        default:
            throw Fault(offset: start, message: "unknown escape in a string")
        }
    }

    private mutating func scanHexadecimal(_ start: Int) throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Hexadecimal.value(byte) else {
                throw Fault(offset: start, message: "\\u needs four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }

    /// Scans one character of two to four bytes by RFC 3629's table: no overlong forms, no surrogates.
    private mutating func scanMultibyte(_ first: UInt8) throws(Fault) {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: throw fault("not UTF-8")
        }
        guard offset + length <= bytes.count else { throw fault("the text ends inside a character") }
        for index in 1..<length {
            let allowed = index == 1 ? second : 0x80...0xBF
            guard allowed.contains(bytes[offset + index]) else { throw fault("not UTF-8") }
        }
        offset += length
    }
}
