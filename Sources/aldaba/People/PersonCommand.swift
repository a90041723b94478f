import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer
import SQLiteStore

/// `aldaba person`: the people who use the console.
package struct PersonCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "person", abstract: "Add, list and remove the people who use a server's console.",
        discussion: """
            EXAMPLES:
              aldaba person link                                  the link by which the first owner is set up
              aldaba person add ada --role reader                 adds a person, and prints the link for a password
              aldaba person role ada --role sender --team TEAM123456
            """, subcommands: [List.self, Add.self, Role.self, Remove.self, Link.self])

    /// Made by the parser, which fills it in.
    package init() {}

    /// The options of a role.
    struct RoleOptions: ParsableArguments {
        @Option(help: "owner, admin, sender, reader or support.") var role: String
        @Option(help: "The team of the role: ten characters A-Z0-9; without it all teams.") var team: String?
        @Option(help: "The number of the device that a person in support sees.") var device: String?

        func membership() throws -> PersonMembership {
            guard let role = PersonRole(rawValue: role) else {
                let roles = PersonRole.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandError(.invalidInput, "--role: \"\(self.role)\" is not one of \(roles)")
            }
            let team = try PersonCommand.team(team)
            guard role == .support else { return PersonMembership(role, team: team) }
            guard let device = device.flatMap({ UInt64($0) }).flatMap(DeviceID.init) else {
                throw CommandError(.invalidInput, "--device: a person in support needs the number of a device")
            }
            return PersonMembership(role, team: team, device: device)
        }
    }

    private static func team(_ text: String?) throws -> TeamID? {
        guard let text else { return nil }
        guard TeamID.hasShape(text) else {
            throw CommandError(.invalidInput, "--team: \"\(text)\" is not ten characters A-Z0-9")
        }
        return TeamID(rawValue: text)
    }

    private static func found(_ name: String, _ store: any ServerStore) async throws -> Person {
        guard let person = try await store.people.person(named: name.lowercased()) else {
            throw CommandError(.invalidInput, "there is no person \(name); `aldaba person list` shows those there are")
        }
        return person
    }

    /// Changes people, with an entry in the audit log; refusals become the command's own.
    private static func change<Result>(
        _ location: FolderOption, _ change: AuditChange, _ body: (any ServerStore) async throws -> Result
    ) async throws -> Result {
        try await ServerRegister.readingStore(location.folder) { store in
            do { return try await ServerRegister.audited(change, in: store) { try await body(store) } } catch let
                refusal
                as PeopleError
            { throw CommandError(.failed, "\(refusal)") }
        }
    }

    /// The address of the control API; that of the running server, or of the last one.
    private static func control(_ location: FolderOption) throws -> String { try location.addresses().control }

    /// `aldaba person list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the people with their roles.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let people = try await ServerRegister.readingStore(location.folder) { try await $0.people.people() }
            if json { return try print(JSONLine.of(people.map(PersonView.init))) }
            for person in people { print(PersonView(person).line) }
        }
    }

    /// `aldaba person add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a person, and print the link by which the person sets a password within a day.")
        @Argument(help: "The name for logging in.") var name: String
        @OptionGroup var options: RoleOptions
        @OptionGroup var location: FolderOption

        func run() async throws {
            guard let name = Person.name(name) else {
                throw CommandError(.invalidInput, "a name has 1 to 64 letters a-z, digits, and - _ . @ +")
            }
            let (membership, control) = (try options.membership(), try PersonCommand.control(location))
            let now = presentTime()
            let person = Person(
                id: PeopleService.newID(), name: name, memberships: [membership], createdAt: now)
            print(
                try await PersonCommand.change(location, AuditChange(.addPerson, name)) { store in
                    try await store.people.addPerson(person)
                    return try await ConsoleLink.make(
                        for: person.id, lasting: PersonLink.invitation, in: store.people, control: control,
                        folder: location.folder, at: now)
                })
        }
    }

    /// `aldaba person role`.
    struct Role: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give a person a role in a team, or in all teams.")
        @Argument(help: "The person's name.") var name: String
        @OptionGroup var options: RoleOptions
        @OptionGroup var location: FolderOption

        func run() async throws {
            let membership = try options.membership()
            try await PersonCommand.change(location, AuditChange(.changePerson, name)) { store in
                var person = try await PersonCommand.found(name, store)
                person.memberships.removeAll { $0.team == membership.team }
                person.memberships.append(membership)
                _ = try await store.people.changePerson(person)
            }
            let role = membership.role.rawValue
            print(
                Terminal.text(
                    membership.team.map { "\(name) is \(role) of \($0)" } ?? "\(name) is \(role) of all teams"))
        }
    }

    /// `aldaba person remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a person with all sessions, or only the role in one team.")
        @Argument(help: "The person's name.") var name: String
        @Option(help: "The team whose role is removed; without it the person is.") var team: String?
        @OptionGroup var location: FolderOption

        func run() async throws {
            let team = try PersonCommand.team(team)
            try await PersonCommand.change(location, AuditChange(team == nil ? .removePerson : .changePerson, name)) {
                store in
                var person = try await PersonCommand.found(name, store)
                guard team != nil else {
                    _ = try await store.people.removePerson(person.id)
                    return
                }
                person.memberships.removeAll { $0.team == team }
                _ = try await store.people.changePerson(person)
            }
            print(Terminal.text(team.map { "removed \(name) from \($0)" } ?? "removed \(name)"))
        }
    }

    /// `aldaba person link`.
    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Make a link by which a person sets a new password; without a name, by which the first owner is set up."
        )
        @Argument(help: "The person's name; without it the first owner.") var name: String?
        @OptionGroup var location: FolderOption

        func run() async throws {
            let control = try PersonCommand.control(location)
            let address = try await ServerRegister.readingStore(location.folder) { store in
                let person = try await named(store)
                return try await ConsoleLink.make(
                    for: person?.id, lasting: PersonLink.setUp, in: store.people, control: control,
                    folder: location.folder,
                    at: presentTime())
            }
            print(address)
        }

        private func named(_ store: any ServerStore) async throws -> Person? {
            if let name { return try await PersonCommand.found(name, store) }
            guard try await store.people.people().isEmpty else {
                throw CommandError(
                    .invalidInput,
                    "the console has people; name the one whose password is to be set: aldaba person list")
            }
            return nil
        }
    }
}

/// A person as commands show one.
struct PersonView: Encodable {
    struct Role: Encodable {
        var role: String
        var team: String?
        var device: String?
    }

    var name: String
    var roles: [Role]
    var hasPassword: Bool
    var createdAt: String

    init(_ person: Person) {
        name = person.name
        roles = person.memberships.map {
            Role(role: $0.role.rawValue, team: $0.team?.rawValue, device: $0.device?.description)
        }
        hasPassword = person.password != nil
        createdAt = person.createdAt.description
    }

    var line: String {
        let roles = roles.map { role in
            let device = role.device.map { ", \(Terminal.text("device")) \($0)" } ?? ""
            return "\(role.role) (\(role.team ?? Terminal.text("all teams"))\(device))"
        }
        return "\(name)  \(roles.isEmpty ? Terminal.text("no role") : roles.joined(separator: "; "))"
            + (hasPassword ? "" : "  (\(Terminal.text("has not set a password")))")
    }
}
