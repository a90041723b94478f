import AldabaConfiguration
import ArgumentParser

/// `aldaba configuration-page`: the page of configuration keys, from their table.
struct ConfigurationPageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configuration-page", abstract: "Print Docs/configuration.md.", shouldDisplay: false)

    func run() { print(ConfigurationDocument.markdown(), terminator: "") }
}
