/// The origin of a configuration value.
package enum ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
    /// A flag, by its name without the dashes.
    case flag(String)
    /// An argument among the flags that is none.
    case word(String)
    /// An environment variable, by its name.
    case environment(String)
    /// A file by its path, and the line.
    case file(String, line: Int)
    /// The table's default.
    case builtIn

    /// The origin as messages show it: `--apns-port`, `ALDABA_APNS_PORT`, `aldaba.yaml:3`.
    package var description: String {
        switch self {
        case .flag(let name): "--\(name)"
        case .word(let word): "\"\(word)\""
        case .environment(let name): name
        case .file(let path, let line): "\(path):\(line)"
        case .builtIn: "the default"
        }
    }
}

/// A fault in a configuration: the value's origin, the fault, and the expected value.
package struct ConfigurationFault: Hashable, Sendable, CustomStringConvertible {
    /// The origin of the value.
    package var origin: ConfigurationOrigin
    /// The fault, in words; never a secret value.
    package var what: String
    /// The expected value, in words.
    package var right: String

    /// Makes a fault from its three parts.
    package init(origin: ConfigurationOrigin, what: String, right: String) {
        self.origin = origin
        self.what = what
        self.right = right
    }

    /// `ORIGIN: WHAT; RIGHT`.
    package var description: String { "\(origin): \(what); \(right)" }
}

/// All that is wrong with a configuration, in the order in which it was found.
package struct ConfigurationFaults: Error, Equatable, CustomStringConvertible {
    /// The faults, at least one.
    package var faults: [ConfigurationFault]

    /// The faults, one a line.
    package var description: String { faults.map(\.description).joined(separator: "\n") }
}
