import Foundation

/// Whether a value is printed.
public struct OSLogPrivacy: Hashable, Sendable {
    enum Choice { case automatic, open, hidden }
    let choice: Choice

    /// Numbers are printed, and nothing else.
    public static let auto = OSLogPrivacy(choice: .automatic)
    /// The value is printed.
    public static let `public` = OSLogPrivacy(choice: .open)
    /// The value is not printed.
    public static let `private` = OSLogPrivacy(choice: .hidden)
    /// The value is not printed.
    public static let sensitive = OSLogPrivacy(choice: .hidden)

    /// The text that is printed for a value.
    func shown(_ text: @autoclosure () -> String, isNumber: Bool) -> String {
        choice == .open || choice == .automatic && isNumber ? text() : "<private>"
    }
}

/// A message of a log.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    let text: String

    /// A text as it is written in the program.
    public init(stringLiteral value: String) { text = value }
    /// A text with values.
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// The values in a message.
public struct OSLogInterpolation: StringInterpolationProtocol {
    var text = ""

    /// Begins a message.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds a text as it is written in the program.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a value; a number is public, anything else private, unless `privacy` says otherwise.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some Any, privacy: OSLogPrivacy = .auto
    ) {
        let value = value()
        let isNumber = value is any Numeric || value is Bool
        text += privacy.shown("\(value)", isNumber: isNumber)
    }
}

/// The formats of `os_log`.
enum LogFormat {
    /// The text of a format with its arguments; what has no argument stays as it is written.
    static func text(_ format: String, _ arguments: [any CVarArg]) -> String {
        var text = ""
        var rest = Substring(format)
        var arguments = arguments[...]
        while let sign = rest.firstIndex(of: "%") {
            text += rest[..<sign]
            rest = rest[rest.index(after: sign)...]
            if rest.first == "%" {
                text += "%"
                rest = rest.dropFirst()
            } else if let place = Place(rest), let argument = arguments.popFirst() {
                text += place.text(of: argument)
                rest = place.rest
            } else {
                text += "%"
            }
        }
        return text + rest
    }

    /// A place behind its percent sign: its marks in braces, flags, width and length, then the conversion.
    private struct Place {
        private let marks: [Substring]
        private let specification: Substring
        private let conversion: Character
        let rest: Substring

        init?(_ text: Substring) {
            var text = text
            if text.first == "{", let end = text.firstIndex(of: "}") {
                marks = text[..<end].dropFirst().split { $0 == "," || $0 == " " }
                text = text[text.index(after: end)...]
            } else {
                marks = []
            }
            let end = text.firstIndex { !"#0- +.123456789hlqLztj".contains($0) }
            guard let end, "@dDiuUxXoOfFeEgGaAcCsSp".contains(text[end]) else { return nil }
            specification = text[...end]
            conversion = text[end]
            rest = text[text.index(after: end)...]
        }

        func text(of argument: any CVarArg) -> String {
            let isText = "@sS".contains(conversion)
            let privacy: OSLogPrivacy =
                marks.contains("public") ? .public : marks.contains("private") || isText ? .private : .auto
            return privacy.shown(
                isText ? "\(argument)" : String(format: "%\(specification)", argument), isNumber: !isText)
        }
    }
}
