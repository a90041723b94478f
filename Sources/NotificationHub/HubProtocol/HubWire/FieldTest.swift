import PushCore

/// A comparison of one of the hub's own fields, an extension of the tag grammar: `$Locale:{de}`, `$Country:{ES}`,
/// `$Platform:{apns}`, `$AppVersion:{>=2.1}`, `$LastSeen:{<7d}`.
package enum FieldTest: Hashable, Sendable {
    /// How a version is compared.
    package enum Comparison: String, Sendable, CaseIterable {
        /// At least as high.
        case atLeast = ">="
        /// At most as high.
        case atMost = "<="
        /// Lower.
        case below = "<"
        /// Higher.
        case above = ">"
        /// The same, but for zeros at the end.
        case equal = "="
    }

    /// The installation's language, or language and region: `de` holds for `de-AT` too. In lower case.
    case locale(String)
    /// The installation's country, in lower case.
    case country(String)
    /// The installation's platform, in lower case.
    case platform(String)
    /// The version of its app.
    case appVersion(Comparison, AppVersion)
    /// The installation was put, changed or seen within so many milliseconds; `false` in `isWithin` negates that.
    case lastSeen(isWithin: Bool, milliseconds: Int64)

    /// Reads the text between the braces.
    ///
    /// - Parameter name: The name between `$` and `:`, in lower case.
    /// - Throws: ``ComparisonError`` with the expected input.
    init(name: String, argument: String) throws(ComparisonError) {
        switch name {
        case "locale": self = .locale(argument.lowercased())
        case "country": self = .country(argument.lowercased())
        case "platform": self = .platform(argument.lowercased())
        case "appversion":
            let comparison = Comparison.allCases.first { argument.hasPrefix($0.rawValue) }
            let digits = argument.dropFirst(comparison?.rawValue.count ?? 0)
            guard let version = AppVersion(String(digits)) else {
                throw ComparisonError(message: "expected a version such as {>=2.1} or {2.1}")
            }
            self = .appVersion(comparison ?? .equal, version)
        case "lastseen":
            guard let first = argument.first, first == "<" || first == ">",
                let duration = Self.milliseconds(argument.dropFirst())
            else {
                throw ComparisonError(message: "expected {<7d}, within seven days, or {>7d}; the units are m, h and d")
            }
            self = .lastSeen(isWithin: first == "<", milliseconds: duration)
        default:
            throw ComparisonError(
                message: "there is no $\(name):{…}; there are $InstallationId, $UserId, $Locale, $Country, $Platform, "
                    + "$AppVersion and $LastSeen")
        }
    }

    /// A fault in a comparison, with a message about the expected input.
    struct ComparisonError: Error { var message: String }

    private static func milliseconds(_ text: Substring) -> Int64? {
        let units: [Character: Int64] = ["m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count >= 0 else {
            return nil
        }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }
}

/// A version of an app: numbers with dots between them. Zeros at the end do not count.
package struct AppVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let numbers: [UInt32]

    /// Reads `1.2.3`; `nil` for anything else, and for more than eight numbers.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...8).contains(parts.count) else { return nil }
        var numbers: [UInt32] = []
        for part in parts {
            guard part.allSatisfy({ $0.isASCII && $0.isNumber }), let number = UInt32(part) else { return nil }
            numbers.append(number)
        }
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    package static func < (left: AppVersion, right: AppVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    package var description: String { numbers.map(String.init).joined(separator: ".") }
}

extension FieldTest.Comparison {
    /// Whether a version compares so with another.
    package func matches(_ left: AppVersion, _ right: AppVersion) -> Bool {
        switch self {
        case .atLeast: left >= right
        case .atMost: left <= right
        case .below: left < right
        case .above: left > right
        case .equal: left == right
        }
    }
}
