/// The table of configuration keys as text for people.
public enum ConfigurationDocument {
    /// The page `Docs/configuration.md`, whole.
    public static func markdown() -> String {
        var page = """
            # Configuration

            This page is made from the table of keys in the code (`aldaba configuration-page`); a test compares the two.

            A value is taken from the flag `--KEY`, else from the environment variable, else from `aldaba.yaml` in the
            current folder (or the file that `--config` names), else from the default. In the file a key stands as
            `KEY: VALUE`, one a line. Everything that is wrong is reported at once, with where it came from. `up` and
            `doctor` take the keys of serve, and presenter, presenter-hook, position and reconnect-after.

            | key | environment | of | takes | default | what it does |
            |---|---|---|---|---|---|

            """
        for key in ConfigurationKey.allCases {
            let row = key.row
            let programs = row.programs.map(\.rawValue).joined(separator: ", ")
            let sentence = row.secret ? "\(row.sentence) **Secret**: never shown or logged." : row.sentence
            page += "| `\(key.rawValue)` | `\(key.environmentName)` | \(programs) | \(row.type.words) "
            page += "| \(row.defaultText.map { "`\($0)`" } ?? "–") | \(sentence) |\n"
        }
        return page
    }

    /// The keys of a program as the end of its help text.
    public static func help(for program: ConfiguredProgram) -> String {
        var text = "SETTINGS (each also as an ALDABA_ variable, or in aldaba.yaml without the dashes):\n"
        for key in ConfigurationKey.allCases where program.takes(key) {
            let row = key.row
            let value = row.type == .flag ? "" : " <\(placeholder(row.type))>"
            let ending = row.defaultText.map { " (default: \($0))" } ?? ""
            text += "  --\(key.rawValue)\(value)\n      \(row.sentence)\(ending)\n"
        }
        return text
    }

    private static func placeholder(_ type: ConfigurationType) -> String {
        switch type {
        case .choice(let choices): choices.joined(separator: "|")
        case .position: "source"
        case .addressRanges: "addresses"
        case .address: "host:port"
        case .secureURL: "https://host:port"
        case .port: "port"
        case .path: "path"
        case .number: "number"
        case .text, .flag: "text"
        }
    }
}
