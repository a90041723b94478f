import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer

/// `aldaba team`: the owners of apps, keys and certificates.
package struct TeamCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "team", abstract: "Add and list the teams of a server.",
        subcommands: [Create.self, List.self, Show.self])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba team create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a team to the register.")
        @Argument(help: "The team's name.") var name: String
        @Option(help: "The team's id: ten characters A-Z0-9; without it one is made.") var id: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let id = id ?? RegisterID.random()
            guard TeamID.hasShape(id) else {
                throw CommandError(.invalidInput, "--id: \"\(id)\" is not ten characters A-Z0-9")
            }
            guard !name.isEmpty, name.utf8.count <= 255 else {
                throw CommandError(.invalidInput, "a team's name has 1 to 255 bytes")
            }
            let team = RegisteredTeam(id: TeamID(rawValue: id), name: name, createdAt: presentTime())
            let view = TeamView(id: id, name: name)
            try await ServerRegister.changing(
                location.begun(), AuditChange(.addTeam, id, team: id), makesFolder: true,
                after: { AuditedObject(view) }
            ) { try await $0.register.addTeam(team) }
            try TeamCommand.show(view, json: json)
        }
    }

    /// `aldaba team list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the teams that were added or own anything.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let teams = try await ServerRegister.reading(location.folder, TeamCommand.teams)
            if json { return try print(JSONLine.of(teams)) }
            for team in teams { try TeamCommand.show(team, json: false) }
        }
    }

    /// `aldaba team show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a team with its apps, keys and certificates.")
        @Argument(help: "The team's id: ten characters A-Z0-9.") var id: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let teams = try await ServerRegister.reading(location.folder, TeamCommand.teams)
            guard let team = teams.first(where: { $0.teamId == id }) else {
                throw CommandError(
                    .invalidInput, "the register has no team \(id); `aldaba team list` shows those it has")
            }
            try TeamCommand.show(team, json: json)
        }
    }

    private static func teams(
        _ store: any RegisterStore & CertificateRegister & TeamRegister & ServiceAccountRegister
    ) async throws -> [TeamView] {
        TeamView.all(
            named: try await store.teams(), apps: try await store.apps(), keys: try await store.providerKeys(),
            certificates: try await store.providerCertificates(),
            serviceAccounts: try await store.serviceAccounts())
    }

    private static func show(_ team: TeamView, json: Bool) throws {
        print(json ? try JSONLine.of(team) : team.lines.joined(separator: "\n"))
    }
}
