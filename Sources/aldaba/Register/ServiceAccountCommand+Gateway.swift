import AldabaConfiguration
import ArgumentParser
import Foundation
import PushServer

extension ServiceAccountCommand {
    /// `aldaba service-account gateway`.
    struct Gateway: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the addresses at which Matrix, Mattermost and Rocket.Chat send to the team's apps.",
            discussion: """
                Each address has a key of the service account in it, and is valid until the account is revoked. Whoever has \
                an address may send to the devices of the team's apps whose tokens they know.
                """)
        @Argument(help: "The account's e-mail, or its key's id (default: the only account of the team).")
        var account: String?
        @Option(help: "The team whose account it is, where ACCOUNT is left out.") var team = DemoApp.team.rawValue
        @Option(
            help: """
                The server's address, https://host:port, as providers reach its control-port (default: that of the \
                server that runs on the data folder).
                """) var url: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let base = try url ?? location.addresses().control
            if let fault = ServerRegister.fault(inAddress: base) {
                throw CommandError(.invalidInput, "--url: \(fault)")
            }
            let found = try await ServiceAccountCommand.active(account, team: team, location.folder)
            let key = try ServiceAccountCommand.key(of: found, for: .gateway, location.folder)
            let addresses = [
                ("matrix", "Matrix:      ", "\(base)/_matrix/push/v1/notify?key=\(key)"),
                ("mattermost", "Mattermost:  ", "\(base)/gateway/\(key)"),
                ("rocketChat", "Rocket.Chat: ", "\(base)/gateway/\(key)"),
            ]
            guard json else { return addresses.forEach { print($0.1 + $0.2) } }
            let members = Dictionary(uniqueKeysWithValues: addresses.map { ($0.0, $0.2) })
            try print(JSONLine.of(ServiceAccountCommand.shown(found).merging(members) { own, _ in own }))
        }
    }
}
