/// An element of XML.
package struct XMLElement: Hashable, Sendable {
    /// An attribute.
    package struct Attribute: Hashable, Sendable {
        /// The attribute's name, with its prefix.
        package var name: String
        /// The attribute's value.
        package var value: String
    }

    /// The name without its prefix.
    package var name: String
    /// The attributes.
    package var attributes: [Attribute]
    /// The elements in it.
    package var children: [XMLElement]
    /// The text in it, blanks included.
    package var content: String
    /// Whether the text is written unchanged, in a section of `CDATA`; not set by reading.
    package var isVerbatim = false

    /// Makes an element of text.
    package init(_ name: String, _ content: String) {
        self.init(name, attributes: [], children: [])
        self.content = content
    }

    /// Makes an element of elements.
    package init(_ name: String, attributes: [(String, String)] = [], children: [XMLElement]) {
        self.name = name
        self.attributes = attributes.map { Attribute(name: $0.0, value: $0.1) }
        self.children = children
        content = ""
    }

    /// The first element of that name in it.
    package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of the first element of that name in it, without blanks around it.
    package func text(_ name: String) -> String? {
        guard let content = self[name]?.content else { return nil }
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == "\r\n" }
        let start = content.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(start[...last])
    }

    /// The element as text.
    package var text: String {
        var result = ""
        write(into: &result)
        return result
    }

    private func write(into result: inout String) {
        result += "<\(name)"
        for attribute in attributes { result += " \(attribute.name)=\"\(Self.escaped(attribute.value))\"" }
        if children.isEmpty, content.isEmpty {
            result += " />"
            return
        }
        result += ">" + (isVerbatim ? Self.verbatim(content) : Self.escaped(content))
        for child in children { child.write(into: &result) }
        result += "</\(name)>"
    }

    /// The end of a section within it is divided between two of them.
    private static func verbatim(_ text: String) -> String {
        var carried = ""
        for scalar in text.unicodeScalars { carried.unicodeScalars.append(isCarried(scalar) ? scalar : "\u{FFFD}") }
        return "<![CDATA[\(carried.replacing("]]>", with: "]]]]><![CDATA[>"))]]>"
    }

    /// Whether XML 1.0 allows a character (section 2.2).
    private static func isCarried(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0..<0x20, 0xFFFE, 0xFFFF: false
        default: true
        }
    }

    /// Text for an element or an attribute in double quotation marks. Characters that XML 1.0 cannot carry become the
    /// replacement character.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(isCarried(scalar) ? scalar : "\u{FFFD}")
            }
        }
        return result
    }
}
