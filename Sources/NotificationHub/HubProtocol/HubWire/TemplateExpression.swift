import Foundation
import PushCore

/// A value of a template: text, or an expression over the properties of a send.
///
/// - `$(p)` the property, or nothing; `$(p, n)` its first n characters; `.(p, n)` the same with three dots, which
///   count.
/// - `%(p)` percent-encoded; `#(p)` a number of JSON, where it is the whole value and the property is one.
/// - `'text'` and `"text"`, the quotation mark doubled within; `{e1 + e2}` the concatenation of both.
/// - `$(p:{text})` has a default, in which a backslash precedes `}`.
///
/// A value that begins with none of `$ . % # {` is text.
package indirect enum TemplateExpression: Hashable, Sendable {
    /// How much of a property is taken.
    package enum Clip: Hashable, Sendable {
        /// All of it.
        case none
        /// The first characters.
        case first(Int)
        /// The first characters, with three dots where some are missing.
        case dotted(Int)
    }

    /// The form in which a property is inserted.
    package enum Form: Hashable, Sendable {
        /// Text.
        case text(Clip)
        /// Percent-encoded text.
        case encoded
        /// A number, where it is one.
        case number
    }

    /// Text without expressions.
    case literal(String)
    /// A property, its name in lower case.
    case property(String, Form, fallback: String?)
    /// Several, one after the other.
    case joined([TemplateExpression])

    /// A fault in an expression, and its position.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The offset of the offending character, from 0.
        package var offset: Int
        /// The text found there, and what is expected instead.
        package var message: String
        package var description: String { "character \(offset + 1): \(message)" }
    }

    /// The most characters that the name of a property may have.
    package static let longestName = 120

    /// Reads a value.
    package init(_ text: String) throws(Fault) {
        guard let first = text.first, "$.%#{".contains(first) else {
            self = .literal(text)
            return
        }
        var reader = TemplateExpressionReader(text: Array(text))
        self = try reader.whole()
    }

    /// The number of values that are joined; 1 for one alone.
    var partCount: Int {
        guard case .joined(let parts) = self else { return 1 }
        return parts.count
    }

    /// The value for some properties, whose names are in lower case; `nil` where its text would have more than `limit` bytes.
    package func value(_ properties: [String: String], limit: Int) -> JSONValue? {
        guard let text = text(properties, limit: limit) else { return nil }
        if case .property(_, .number, _) = self, JSONValue.isNumber(text) { return .number(text) }
        return .string(text)
    }

    /// The value as text; `nil` where it would have more than `limit` bytes of UTF-8.
    ///
    /// The work follows from the text that is made, not from the lengths of the properties.
    package func text(_ properties: [String: String], limit: Int) -> String? {
        switch self {
        case .literal(let text): return text.utf8.count <= limit ? text : nil
        case .joined(let parts):
            var result = ""
            for part in parts {
                guard let text = part.text(properties, limit: limit - result.utf8.count) else { return nil }
                result += text
            }
            return result
        case .property(let name, let form, let fallback):
            let text = Self.formed(properties[name] ?? fallback ?? "", form, limit: limit)
            return text.flatMap { $0.utf8.count <= limit ? $0 : nil }
        }
    }

    private static func formed(_ text: String, _ form: Form, limit: Int) -> String? {
        switch form {
        case .text(.none), .number: return text
        case .text(.first(let count)): return String(text.prefix(count))
        case .text(.dotted(let count)):
            // Whether the text goes on is seen without counting all of it.
            guard let end = text.index(text.startIndex, offsetBy: count, limitedBy: text.endIndex), end < text.endIndex
            else { return text }
            return String((text.prefix(max(0, count - 3)) + "...").prefix(count))
        case .encoded:
            guard text.utf8.count <= limit else { return nil }
            let unreserved = CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
            return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        }
    }
}

/// Reads one expression.
struct TemplateExpressionReader {
    let text: [Character]
    private var offset = 0

    init(text: [Character]) { self.text = text }

    private func fault(_ message: String) -> TemplateExpression.Fault {
        TemplateExpression.Fault(offset: offset, message: message)
    }

    private var next: Character? { offset < text.count ? text[offset] : nil }

    private mutating func skipBlanks() {
        while let character = next, character == " " || character == "\t" { offset += 1 }
    }

    mutating func whole() throws(TemplateExpression.Fault) -> TemplateExpression {
        if text.starts(with: "$body"), text.count == 5 {
            throw fault("$body stands for a whole body, which a template here cannot be")
        }
        let expression = next == "{" ? try joined() : try property(isJoined: false)
        guard offset == text.count else {
            throw fault("an expression ends here; to join several, write {e1 + e2}, with text as 'text'")
        }
        return expression
    }

    private mutating func joined() throws(TemplateExpression.Fault) -> TemplateExpression {
        offset += 1
        var parts: [TemplateExpression] = []
        repeat {
            skipBlanks()
            switch next {
            case "'", "\"": parts.append(.literal(try quoted()))
            default: parts.append(try property(isJoined: true))
            }
            skipBlanks()
        } while take("+")
        guard take("}") else { throw fault("expected + or }") }
        return parts.count == 1 ? parts[0] : .joined(parts)
    }

    private mutating func take(_ character: Character) -> Bool {
        guard next == character else { return false }
        offset += 1
        return true
    }

    /// A quotation mark within is doubled.
    private mutating func quoted() throws(TemplateExpression.Fault) -> String {
        let start = offset
        guard let mark = next else { throw fault("expected a quotation mark") }
        offset += 1
        var result = ""
        while let character = next {
            offset += 1
            guard character == mark else {
                result.append(character)
                continue
            }
            guard next == mark else { return result }
            offset += 1
            result.append(mark)
        }
        offset = start
        throw fault("this text does not end")
    }

    private mutating func property(isJoined: Bool) throws(TemplateExpression.Fault) -> TemplateExpression {
        let start = offset
        guard let sign = next, "$.%#".contains(sign) else {
            throw fault("expected $(…), .(…), %(…), #(…)\(isJoined ? " or text in quotation marks" : "")")
        }
        offset += 1
        guard take("(") else {
            throw fault("expected ( after \(sign); text that begins with \(sign) is written {'\(sign)…'}")
        }
        skipBlanks()
        let name = try name()
        let fallback = try fallback()
        skipBlanks()
        let count = try take(",") ? number() : nil
        skipBlanks()
        guard take(")") else { throw fault("expected )") }
        func form(_ form: TemplateExpression.Form) -> TemplateExpression {
            .property(name, form, fallback: fallback)
        }
        switch (sign, count) {
        case ("$", let count): return form(.text(count.map { .first($0) } ?? .none))
        case (".", let count?): return form(.text(.dotted(count)))
        case ("%", nil): return form(.encoded)
        case ("#", nil) where !isJoined: return form(.number)
        default: break
        }
        offset = start
        switch sign {
        case ".": throw fault("expected a length: .(name, 20)")
        case "#" where count == nil: throw fault("a number stands alone; it cannot be joined")
        default: throw fault("\(sign)(…) takes no length")
        }
    }

    private mutating func name() throws(TemplateExpression.Fault) -> String {
        let start = offset
        while let character = next, character.isASCII, character.isLetter || character.isNumber || character == "_" {
            offset += 1
        }
        guard (1...TemplateExpression.longestName).contains(offset - start) else {
            throw fault(
                "expected the name of a property: 1 to \(TemplateExpression.longestName) letters, digits and _")
        }
        return String(text[start..<offset]).lowercased()
    }

    private mutating func fallback() throws(TemplateExpression.Fault) -> String? {
        guard take(":") else { return nil }
        guard take("{") else { throw fault("expected { as in $(name:{default})") }
        var result = ""
        while let character = next {
            offset += 1
            if character == "}" { return result }
            if character == "\\", let escaped = next {
                result.append(escaped)
                offset += 1
            } else {
                result.append(character)
            }
        }
        throw fault("the default does not end; expected }")
    }

    private mutating func number() throws(TemplateExpression.Fault) -> Int {
        skipBlanks()
        let start = offset
        while let character = next, character.isASCII, character.isNumber { offset += 1 }
        guard offset > start, offset - start <= 6, let number = Int(String(text[start..<offset])) else {
            throw fault("expected a length of one to six digits")
        }
        return number
    }
}
