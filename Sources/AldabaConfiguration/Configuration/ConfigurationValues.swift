import Foundation
import Glibc
import Networking
import PushCore

/// The checked values of all keys, each with its origin.
package struct ConfigurationValues: Sendable {
    /// A value as it was given; it may be a secret, and so it is never shown.
    struct Given: Sendable {
        @Secret var text: String
        var origin: ConfigurationOrigin
    }

    var texts: [ConfigurationKey: Given] = [:]
    /// The warnings about variables that look like settings and are none, a sentence each.
    var unknownVariables: [String] = []

    /// The value as text; `nil` when none was given and the table has no default.
    package func text(_ key: ConfigurationKey) -> String? { texts[key]?.text ?? key.row.defaultText }

    /// The value of a key of kind port or number; 0 when there is none.
    package func number(_ key: ConfigurationKey) -> Int { text(key).flatMap { Int($0) } ?? 0 }

    /// The value of a key of kind flag.
    package func flag(_ key: ConfigurationKey) -> Bool { text(key) == "true" }

    /// The value of a key of kind addressRanges.
    package func addressRanges(_ key: ConfigurationKey) -> [AddressRange] {
        ConfigurationType.addressRanges(in: text(key) ?? "") ?? []
    }

    /// The origin of the value.
    package func origin(_ key: ConfigurationKey) -> ConfigurationOrigin { texts[key]?.origin ?? .builtIn }

    /// The flags that give another `aldaba` the same values; secrets and defaults are left out.
    package func flags(for program: ConfiguredProgram, except: Set<ConfigurationKey>) -> [String] {
        ConfigurationKey.allCases.flatMap { key -> [String] in
            guard let given = texts[key], key.row.programs.contains(program), !key.row.secret, !except.contains(key)
            else { return [] }
            return ["--\(key.rawValue)=\(given.text)"]
        }
    }
}

extension ConfigurationType {
    /// The ranges of a list; `nil` when a part of it is no range. The text `none` is the empty list.
    static func addressRanges(in text: String) -> [AddressRange]? {
        if text == "none" { return [] }
        var ranges: [AddressRange] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = AddressRange(part.trimmingCharacters(in: .whitespaces)) else { return nil }
            ranges.append(range)
        }
        return ranges
    }

    /// The parts of a list of names.
    package static func serverNames(in text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Whether a text is an address that a listener can bind (inet_pton(3)).
    private static func isIPAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    /// The expected input in place of a text that is not of this kind.
    func right(insteadOf text: String) -> String {
        (self == .position ? PositionChoice.advice(insteadOf: text) : nil) ?? "it takes \(words)"
    }

    /// The value in its plain form, or `nil` when the text is not of this kind.
    func normalized(_ text: String) -> String? {
        switch self {
        case .text, .path: return text.isEmpty || text.contains("\0") ? nil : text
        case .port: return Int(text).flatMap { (0...65_535).contains($0) ? String($0) : nil }
        case .number(let range): return Int(text).flatMap { range.contains($0) ? String($0) : nil }
        case .choice(let choices): return choices.contains(text) ? text : nil
        case .position: return PositionChoice(text) == nil ? nil : text
        case .serverNames: return Self.serverNames(in: text).allSatisfy(ServerNames.isName) ? text : nil
        case .addressRanges: return Self.addressRanges(in: text) == nil ? nil : text
        case .flag:
            switch text.lowercased() {
            case "true", "yes", "on", "1": return "true"
            case "false", "no", "off", "0": return "false"
            default: return nil
            }
        case .address:
            return ServerAddresses.parts(ofAuthority: text) == nil ? nil : text
        case .ipAddress: return Self.isIPAddress(text) ? text : nil
        case .secureURL:
            guard let url = URLComponents(string: text), url.scheme == "https", url.host?.isEmpty == false,
                url.user == nil, url.query == nil, url.fragment == nil
            else { return nil }
            return text
        }
    }
}
