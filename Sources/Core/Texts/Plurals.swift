/// A form of a text that contains a number (Unicode CLDR, Language Plural Rules).
package enum PluralForm: String, Sendable, CaseIterable {
    /// The form for a single item.
    case one
    /// The form for whole millions, in Spanish.
    case many
    /// The form for every other number.
    case other
}

extension Language {
    /// The form for a number of items.
    package func pluralForm(of count: Int) -> PluralForm {
        switch self {
        case .english: count == 1 ? .one : .other
        case .spanish: count == 1 ? .one : count != 0 && count % 1_000_000 == 0 ? .many : .other
        }
    }

    /// A number with its digits in groups. Spanish groups numbers of five digits and more.
    package func number(_ number: Int) -> String {
        let digits = String(number.magnitude)
        let (separator, shortest) = self == .english ? (",", 4) : (".", 5)
        guard digits.count >= shortest else { return String(number) }
        var groups: [Substring] = []
        var rest = digits[...]
        while !rest.isEmpty {
            groups.append(rest.suffix(3))
            rest = rest.dropLast(3)
        }
        return (number < 0 ? "-" : "") + groups.reversed().joined(separator: separator)
    }
}
