/// The table of configuration keys as text for people.
package enum ConfigurationDocument {
    /// The page `Docs/configuration.md`, whole.
    package static func markdown() -> String {
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
}
