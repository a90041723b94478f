import Foundation

/// The source of the machine's position, as set by the key `position`.
package enum PositionChoice: Sendable, Hashable {
    /// The system's location service, GeoClue.
    case geoclue
    /// A file that holds a position.
    case file(path: String)
    /// A shell command whose output consists of positions.
    case command(String)
    /// No source: requests with a region stay pending and do not fire.
    case none

    /// Reads `geoclue`, `file:PATH`, `command:COMMAND` or `none`; anything else is `nil`.
    package init?(_ text: String) {
        guard !text.contains("\0") else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count > 1 ? parts[1] : nil) {
        case ("geoclue", nil): self = .geoclue
        case ("none", nil): self = .none
        case ("file", let path?) where !path.isEmpty: self = .file(path: path)
        case ("command", let command?) where !command.allSatisfy(\.isWhitespace): self = .command(command)
        default: return nil
        }
    }

    /// The replacement for an unsupported source; `nil` where the list of sources is advice enough.
    static func advice(insteadOf text: String) -> String? {
        guard text.hasPrefix("socket:") else { return nil }
        return "positions are not taken from a socket: have the program write them to a file and name that "
            + "(file:PATH), or have the agent run the program (command:COMMAND)"
    }
}
