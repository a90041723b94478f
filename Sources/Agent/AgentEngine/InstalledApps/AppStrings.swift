import AgentProtocol

/// An app's own texts in the person's language: `LANGUAGE.lproj/Localizable.strings` in its resources folder.
package struct AppStrings: Sendable {
    private let tables: [[String: String]]

    /// The texts of these tables; the first that has a key counts.
    package init(tables: [[String: String]]) { self.tables = tables }

    /// The languages of this process's environment (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`).
    package static func languages(_ environment: [String: String]) -> [String] {
        let chain = environment["LANGUAGE"].map { $0.split(separator: ":").map(String.init) } ?? []
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return (chain + [locale].compactMap { $0 }).filter { !["C", "POSIX", "C.UTF-8"].contains($0) }
    }

    /// The text of a key with its arguments, without any as the table has it; `nil` when no table has the key.
    package func text(_ localization: NotificationContent.Localization) -> String? {
        tables.lazy.compactMap { $0[localization.key] }.first.map {
            localization.arguments.isEmpty ? $0 : Self.fill($0, localization.arguments)
        }
    }

    /// Puts arguments into a format: `%@` takes the next, `%2$@` the second, `%%` is a per cent sign. What names an
    /// argument that is not there is left out.
    package static func fill(_ format: String, _ arguments: [String]) -> String {
        var text = ""
        var next = 0
        var rest = Substring(format)
        while let sign = rest.firstIndex(of: "%") {
            text += rest[..<sign]
            rest = rest[rest.index(after: sign)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if rest.first == "%" {
                text += "%"
                rest = rest.dropFirst()
            } else if !digits.isEmpty, rest.dropFirst(digits.count).first == "$" {
                rest = rest.dropFirst(digits.count + 2)
                if let place = Int(digits), place >= 1, place <= arguments.count { text += arguments[place - 1] }
            } else {
                rest = rest.dropFirst()
                if next < arguments.count { text += arguments[next] }
                next += 1
            }
        }
        return text + rest
    }
}
