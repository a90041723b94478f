extension XMLElement {
    /// A fault in a text, and its position.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The offset of the offending byte, from 0.
        package var offset: Int
        /// The input that was expected there.
        package var message: String
        package var description: String { "byte \(offset): \(message)" }
    }

    /// Reads a document: one element, in UTF-8. Prefixes of namespaces are taken off.
    ///
    /// There are no document types, and so no entities beyond the five that XML has itself. At most 64 elements may be
    /// nested.
    package init(_ bytes: some Collection<UInt8>) throws(Fault) {
        var reader = XMLReader(bytes: Array(bytes))
        self = try reader.document()
    }

    /// The value of an attribute, or the text of an element that has no elements in it.
    package struct Place: Hashable, Sendable {
        /// The element's name, or the attribute's behind `@`.
        package var name: String
        /// The value's range in the document's bytes, without quotation marks.
        package var range: Range<Int>
        /// The value with its entities resolved.
        package var content: String
    }

    /// The values in a document, in its order.
    package static func places(in bytes: [UInt8]) throws(Fault) -> [Place] {
        var reader = XMLReader(bytes: bytes)
        _ = try reader.document()
        return reader.places
    }
}

/// Reads one document of XML 1.0.
struct XMLReader {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0
    /// The values in the document, in its order.
    private(set) var places: [XMLElement.Place] = []

    static let maximumDepth = 64

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(XMLElement.Fault) -> XMLElement {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        try skipMiscellany()
        let element = try element()
        try skipMiscellany()
        guard offset == bytes.count else { throw fault("unexpected text after the element") }
        return element
    }

    private func fault(_ message: String) -> XMLElement.Fault { XMLElement.Fault(offset: offset, message: message) }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard offset + count <= bytes.count else { return false }
        for index in 0..<count where bytes[offset + index] != text.utf8Start[index] { return false }
        offset += count
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    /// The text up to a mark, which is passed over.
    private mutating func until(_ mark: StaticString) throws(XMLElement.Fault) -> ArraySlice<UInt8> {
        let start = offset
        while offset < bytes.count {
            let end = offset
            if take(mark) { return bytes[start..<end] }
            offset += 1
        }
        offset = start
        throw fault("expected \(mark)")
    }

    /// Blanks, comments, declarations of XML; no document types.
    private mutating func skipMiscellany() throws(XMLElement.Fault) {
        while true {
            skipBlanks()
            if take("<?") { _ = try until("?>") } else if take("<!--") { _ = try until("-->") } else { break }
        }
        if take("<!") { throw fault("a document type is not taken") }
    }

    private mutating func name() throws(XMLElement.Fault) -> String {
        let start = offset
        while let byte = next, !" \t\r\n=/>\"'<&".utf8.contains(byte) { offset += 1 }
        guard offset > start else { throw fault("expected a name") }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private static func local(_ name: String) -> String {
        name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
    }

    private mutating func element() throws(XMLElement.Fault) -> XMLElement {
        guard take("<") else { throw fault("expected an element") }
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw fault("more than \(Self.maximumDepth) elements stand inside one another")
        }
        defer { depth -= 1 }
        let name = try name()
        var element = XMLElement(Self.local(name), attributes: try attributes(), children: [])
        if take("/>") { return element }
        guard take(">") else { throw fault("expected >") }
        let start = offset
        var text: [UInt8] = []
        while !take("</") {
            guard let byte = next else { throw fault("the element \(name) does not end") }
            if take("<![CDATA[") {
                text += try until("]]>")
            } else if take("<!--") {
                _ = try until("-->")
            } else if take("<?") {
                _ = try until("?>")
            } else if byte == UInt8(ascii: "<") {
                element.children.append(try self.element())
            } else if byte == UInt8(ascii: "&") {
                text += try reference()
            } else {
                text.append(byte)
                offset += 1
            }
        }
        let end = offset - 2
        guard try self.name() == name else { throw fault("expected the end of \(name)") }
        skipBlanks()
        guard take(">") else { throw fault("expected >") }
        guard let content = String(validating: text, as: UTF8.self) else { throw fault("the text is not UTF-8") }
        element.content = content
        if element.children.isEmpty {
            places.append(.init(name: element.name, range: start..<end, content: content))
        }
        return element
    }

    private mutating func attributes() throws(XMLElement.Fault) -> [(String, String)] {
        var result: [(String, String)] = []
        skipBlanks()
        while let byte = next, byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") {
            let name = try name()
            skipBlanks()
            guard take("=") else { throw fault("expected =") }
            skipBlanks()
            guard let mark = next, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else {
                throw fault("expected a quotation mark")
            }
            offset += 1
            let start = offset
            var value: [UInt8] = []
            while let byte = next, byte != mark {
                if byte == UInt8(ascii: "&") {
                    value += try reference()
                } else {
                    value.append(byte)
                    offset += 1
                }
            }
            guard next == mark else { throw fault("the value does not end") }
            let content = String(decoding: value, as: UTF8.self)
            places.append(.init(name: "@\(name)", range: start..<offset, content: content))
            offset += 1
            result.append((name, content))
            skipBlanks()
        }
        return result
    }

    private mutating func reference() throws(XMLElement.Fault) -> [UInt8] {
        let start = offset
        offset += 1
        let end = min(bytes.count, offset + 12)
        guard let semicolon = bytes[offset..<end].firstIndex(of: UInt8(ascii: ";")) else {
            throw fault("expected an entity such as &amp;")
        }
        let name = String(decoding: bytes[offset..<semicolon], as: UTF8.self)
        offset = semicolon + 1
        switch name {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default: break
        }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
        guard name.first == "#", let number, number > 0, let scalar = Unicode.Scalar(number) else {
            offset = start
            throw fault("there is no such entity; there are amp, lt, gt, quot, apos and numbers")
        }
        return Array(String(Character(scalar)).utf8)
    }
}
