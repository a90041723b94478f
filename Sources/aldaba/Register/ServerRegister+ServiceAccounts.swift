import AldabaConfiguration
import Foundation
import PushCore
import PushServer
import SQLiteStore

extension ServerRegister {
    /// Makes a service account: its file first, then its entry in the register.
    ///
    /// - Parameters:
    ///   - server: The address of the server, as providers reach it.
    ///   - output: The file; `nil` for one in the folder of keys.
    package static func addServiceAccount(
        team: TeamID, server: String, output: String? = nil, folder: DataFolder, store: any ServerStoreRegister
    ) async throws -> (account: ServiceAccount, path: String) {
        let file = try ServiceAccountFile(team: team, tokenURI: tokenURI(server))
        let path = output ?? "\(folder.keys)/service-account-\(file.privateKeyID.prefix(10)).json"
        try file.write(to: path)
        return (try await register(file, team: team, store: store), path)
    }

    private static func register(
        _ file: ServiceAccountFile, team: TeamID, store: any ServerStoreRegister
    ) async throws -> ServiceAccount {
        guard let key = file.publicKeyPEM else {
            throw CommandError(.failed, "the service account's own key cannot be read")
        }
        let account = ServiceAccount(
            keyID: file.privateKeyID, team: team, email: file.clientEmail, publicKeyPEM: key, createdAt: presentTime())
        try await store.addServiceAccount(account)
        return account
    }

    /// The fault of an address for service accounts; `nil` where it can be used.
    static func fault(inAddress base: String) -> String? {
        let loopback = ["127.0.0.1", "localhost", "::1", "[::1]"]
        let address = URLComponents(string: base)
        guard let host = address?.host, !host.isEmpty,
            address?.scheme == "https" || (address?.scheme == "http" && loopback.contains(host))
        else {
            return
                "\"\(base)\" is not an address https://host:port; plain http is for loopback, since access tokens are "
                + "sent there"
        }
        return nil
    }

    private static func tokenURI(_ server: String) -> String {
        (server.hasSuffix("/") ? String(server.dropLast()) : server) + "/token"
    }

    /// Makes sure that the demo app's team has a service account, whose file names the server's present address.
    ///
    /// - Returns: The path of its file.
    package static func ensureDemoServiceAccount(_ folder: DataFolder, server: String) async throws -> String {
        let path = folder.serviceAccount
        return try await withStore(folder) { whole in
            let store = whole.register
            let known = try await store.serviceAccounts()
            if var file = try ServiceAccountFile(path: path) {
                let entry = known.first { $0.keyID == file.privateKeyID }
                if entry.map({ $0.revokedAt == nil && $0.team == DemoApp.team }) ?? (file.publicKeyPEM != nil) {
                    if file.tokenURI != tokenURI(server) {
                        file.tokenURI = tokenURI(server)
                        try file.write(to: path)
                    }
                    // The register was begun anew beside a file that was kept: it sends as before.
                    if entry == nil {
                        _ = try await audited(
                            AuditChange(.addServiceAccount, file.privateKeyID, team: DemoApp.team.rawValue), in: whole
                        ) { try await register(file, team: DemoApp.team, store: store) }
                    }
                    return path
                }
            }
            return try await audited(
                AuditChange(.addServiceAccount, "", team: DemoApp.team.rawValue), in: whole,
                after: { AuditedObject(name: $0.account.keyID) }
            ) {
                try await addServiceAccount(
                    team: DemoApp.team, server: server, output: path, folder: folder, store: store)
            }.path
        }
    }
}
