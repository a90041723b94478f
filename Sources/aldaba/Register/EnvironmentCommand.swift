import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore

/// `aldaba environment`: sandbox and production, what each is called where, and which one the server has.
package struct EnvironmentCommand: ParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "environment", abstract: "Show the environments of device tokens and certificates.",
        discussion: "A server has one, by its setting `environment`; `aldaba up` has sandbox.",
        subcommands: [List.self, Show.self])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba environment list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the environments.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() throws {
            let running = try ServerAddresses.read(location.folder)
            let all = PushEnvironment.allCases.map { EnvironmentView($0, running: running) }
            if json { return try print(JSONLine.of(all)) }
            for environment in all { print(environment.line) }
        }
    }

    /// `aldaba environment show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show an environment.")
        @Argument(help: "sandbox or production.") var environment: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() throws {
            guard let environment = PushEnvironment(rawValue: environment) else {
                throw CommandError(
                    .invalidInput, "\"\(environment)\" is no environment; there are sandbox and production")
            }
            let view = EnvironmentView(environment, running: try ServerAddresses.read(location.folder))
            print(json ? try JSONLine.of(view) : view.line)
        }
    }
}
