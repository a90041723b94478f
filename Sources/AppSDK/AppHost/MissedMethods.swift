/// Finds methods of a delegate that are never called, since they are almost, and not quite, those of a protocol: a
/// value.
///
/// In Swift an optional method that is written with another label or type is simply a method more. On Apple's systems
/// the compiler warns of many of them; here a requirement with a default has nothing to warn of.
package struct MissedMethods: Sendable {
    /// A method as the runtime prints it: `application(_: UIKit.UIApplication, open: Foundation.URL) -> Swift.Bool`.
    struct Method: Hashable {
        /// The base name, before the parentheses.
        let base: String
        /// The labels, `_` for none.
        let labels: [String]
        /// The types of the parameters, the effects and the result, without those that do not decide which method it
        /// is.
        let types: String
        /// Whether one of its parameters is a closure that must not outlive the call.
        let hasNonEscaping: Bool

        /// The name in Swift's notation: `application(_:open:)`.
        var name: String { base + "(" + labels.map { $0 + ":" }.joined() + ")" }

        /// `nil` for what is no method that others can see.
        init?(_ text: String, hasNonEscaping: Bool = false) {
            guard let open = text.firstIndex(of: "("), open != text.startIndex else { return nil }
            base = String(text[..<open])
            guard !base.contains(" "), !base.contains(".") else { return nil }
            guard let (parameters, rest) = Self.parameters(text[open...]) else { return nil }
            labels = parameters.map(\.label)
            self.hasNonEscaping = hasNonEscaping
            types = parameters.map(\.type).joined(separator: ", ") + Self.plain(rest)
        }

        private static func parameters(_ text: Substring) -> (all: [(label: String, type: String)], rest: Substring)? {
            var (depth, parts, current) = (0, [Substring](), text.index(after: text.startIndex))
            for index in text.indices {
                switch text[index] {
                case "(", "[", "<": depth += 1
                case ">" where index > text.startIndex && text[text.index(before: index)] == "-": break
                case ",":
                    guard depth == 1 else { continue }
                    parts.append(text[current..<index])
                    current = text.index(after: index)
                case ")", "]", ">":
                    depth -= 1
                    guard depth == 0 else { continue }
                    if current < index { parts.append(text[current..<index]) }
                    return (parts.map(parameter), text[text.index(after: index)...])
                default: break
                }
            }
            return nil
        }

        /// `label: Type`, or a type alone where no parameter of the method has a label.
        private static func parameter(_ text: Substring) -> (label: String, type: String) {
            let text = text.drop { $0 == " " }
            guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains(where: { "([< ".contains($0) }) else {
                return ("_", plain(text))
            }
            return (String(text[..<colon]), plain(text[text.index(after: colon)...].drop { $0 == " " }))
        }

        private static func plain(_ types: Substring) -> String {
            ["@Swift.MainActor ", "@Sendable ", "nonisolated(nonsending) ", "sending "].reduce(String(types)) {
                $0.replacing($1, with: "")
            }
        }
    }

    /// The protocols' methods, by the name of their protocol.
    private let wanted: [(owner: String, method: Method)]

    /// - Parameter wanted: The methods that are called, with the name of their protocol.
    init(wanted: [(owner: String, method: Method)]) { self.wanted = wanted }

    /// The fault in a method of a delegate, for people; `nil` for one that is called, or is meant for something else.
    func fault(of method: Method) -> String? {
        let same = wanted.filter { $0.method.name == method.name }
        if let first = same.first {
            let fitting = same.first { $0.method.types == method.types }
            if fitting != nil, !method.hasNonEscaping { return nil }
            let wish = "\(first.owner) has it as \((fitting ?? first).method.signature)"
            return fitting == nil
                ? "other types than the protocol's: \(wish)" : "its handler must be @escaping: \(wish)"
        }
        guard let meant = wanted.first(where: { Self.isNear(method, $0.method) }) else { return nil }
        return "its name is not quite that of \(meant.owner)'s \(meant.method.name)"
    }

    private static func isNear(_ one: Method, _ other: Method) -> Bool {
        guard one.labels.count == other.labels.count, isNear(one.base, other.base) else { return false }
        let different = zip(one.labels, other.labels).filter { $0 != $1 }
        return different.count <= 2 && different.allSatisfy { isNearLabel($0, $1) }
    }

    private static func isNearLabel(_ one: String, _ other: String) -> Bool {
        // A missing underscore makes the parameter's own name the label.
        if other == "_" { return true }
        let (short, long) = one.count < other.count ? (one, other) : (other, one)
        if short.count > 3, long.lowercased().hasSuffix(short.lowercased()) { return true }
        return isNear(one, other)
    }

    /// Whether one text becomes the other by at most two letters that are left out, added or changed.
    static func isNear(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.lowercased().utf8), Array(other.lowercased().utf8))
        guard abs(one.count - other.count) <= 2, max(one.count, other.count) > 4 else { return one == other }
        var row = Array(0...other.count)
        for (place, letter) in one.enumerated() {
            var before = row[0]
            row[0] = place + 1
            for column in 1..<row.count {
                let (above, corner) = (row[column], before)
                row[column] = min(above + 1, row[column - 1] + 1, corner + (letter == other[column - 1] ? 0 : 1))
                before = above
            }
        }
        return row[other.count] <= 2
    }
}

extension MissedMethods.Method {
    /// The name and types for diagnostics, without the modules' names.
    var signature: String {
        let plain = types.replacing(#/[A-Za-z_]+\.(?=[A-Z])/#, with: "")
        return "\(name) with \(plain)"
    }
}
