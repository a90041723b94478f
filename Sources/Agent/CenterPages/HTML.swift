/// A piece of an HTML document (HTML Living Standard, section 13.1).
///
/// Guarantees: names of elements and attributes are literals of the program, and every other text is escaped scalar by scalar, so no
/// text becomes markup. In texts, controls are visible (``EscapedText``).
package struct HTML: Hashable, Sendable {
    /// The markup.
    package private(set) var markup: String

    /// A text of an element.
    package init(text: String) { markup = Self.escaped(EscapedText.of(text)) }

    private init(markup: String) { self.markup = markup }

    /// No markup at all.
    package static var nothing: HTML { HTML(markup: "") }

    /// An element with its attributes and content; an attribute without a value is left out.
    package static func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?> = [:],
        @HTMLBuilder _ content: () -> HTML = { .nothing }
    ) -> HTML {
        HTML(markup: "\(start(name, attributes))\(content().markup)</\(name)>")
    }

    /// An element that has neither content nor an end tag: `input`, `img`, `link`, `meta`.
    package static func void(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>) -> HTML {
        HTML(markup: start(name, attributes))
    }

    /// A whole document.
    ///
    /// - Parameter language: The language of its texts (RFC 5646).
    package static func document(language: String, @HTMLBuilder _ content: () -> HTML) -> String {
        "<!doctype html>\n" + element("html", ["lang": language], content).markup + "\n"
    }

    private static func start(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>) -> String {
        var tag = "<\(name)"
        for (name, value) in attributes {
            guard let value else { continue }
            tag += " \(name)=\"\(escaped(EscapedText.of(value)))\""
        }
        return tag + ">"
    }

    /// The text with references for what markup consists of. It goes by scalars: a character that combines with a quotation mark is
    /// one `Character` with it, and the quotation mark would pass.
    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "'": result.append(contentsOf: "&#39;".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    fileprivate static func joined(_ parts: [HTML]) -> HTML { HTML(markup: parts.map(\.markup).joined()) }
}

/// Puts pieces of a document together; a text among them is escaped.
@resultBuilder
package enum HTMLBuilder {
    /// A piece as it is.
    package static func buildExpression(_ piece: HTML) -> HTML { piece }
    /// A text, escaped.
    package static func buildExpression(_ text: String) -> HTML { HTML(text: text) }
    /// The pieces in their order.
    package static func buildBlock(_ parts: HTML...) -> HTML { .joined(parts) }
    /// The pieces of a loop.
    package static func buildArray(_ parts: [HTML]) -> HTML { .joined(parts) }
    /// The piece of a condition; nothing where it is false.
    package static func buildOptional(_ part: HTML?) -> HTML { part ?? .nothing }
    /// The piece of the first branch.
    package static func buildEither(first part: HTML) -> HTML { part }
    /// The piece of the second branch.
    package static func buildEither(second part: HTML) -> HTML { part }
}
