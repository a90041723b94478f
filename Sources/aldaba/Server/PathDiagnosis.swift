import APNsProtocol
import AgentProtocol
import AldabaConfiguration
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import PostgresStore
import PushCore
import SQLiteStore

/// Looks at the two ends of the path: whether a provider is let in, and whether an agent is there. Changes nothing.
package enum PathDiagnosis {
    /// Checks whether a server on the folder accepts a token of the key that `send` signs with, and whether the running
    /// one answers a request with it. Empty where no server was ever started there.
    package static func provider(_ folder: DataFolder, authority: String?) async -> [Finding] {
        // The file that names another database is judged by the findings on databases.
        guard (try? FolderStore.isThere(in: folder)) ?? false else { return [] }
        let keyID: KeyID
        let token: String
        do {
            let ring = KeyRing(folder: folder.keys)
            guard let entry = try ring.entry() else {
                return [
                    Finding(what: "provider keys: none in \(folder.keys)", remedy: "make one with `aldaba key create`")
                ]
            }
            keyID = entry.keyID
            let file = try ProviderKeyFile(path: ring.path(of: entry))
            token = try ProviderToken.make(key: file.key, keyID: file.keyID, team: entry.team, issuedAt: presentTime())
        } catch {
            return [
                Finding(
                    what: "\(error)", remedy: "put the file right, or make a key with `aldaba key create`",
                    isProblem: true)
            ]
        }
        let known = self.known(token, keyID: keyID, folder: folder)
        guard !known.isProblem, let running = await self.running(token, folder: folder, authority: authority) else {
            return [known]
        }
        return [known, running]
    }

    /// The finding on a token in the register. The register is only read, also while another version's server uses it.
    private static func known(_ token: String, keyID: KeyID, folder: DataFolder) -> Finding {
        let name = "provider key \(keyID)"
        func refused(_ why: String) -> Finding {
            Finding(
                what: "\(name): a token of it is refused: \(why)",
                remedy: "sign with another key, or make one with `aldaba key create`", isProblem: true)
        }
        do {
            guard let entry = try self.entry(keyID, folder) else {
                return refused("the register has no such key, or it was revoked")
            }
            let read: ProviderToken
            do { read = try ProviderToken(authorization: ArraySlice("bearer \(token)".utf8)) } catch {
                return refused(error.note ?? error.reason.rawValue)
            }
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: entry.publicKeyPEM), read.isSigned(by: key)
            else { return refused("the register has another key of that id") }
            guard read.team == entry.team else { return refused("the register has it as a key of team \(entry.team)") }
            return Finding(what: "\(name): its tokens are taken for team \(entry.team)")
        } catch {
            return Finding(
                what: "\(name): the register cannot be read: \(error)", remedy: "Docs/back-up.md says how to go on",
                isProblem: true)
        }
    }

    private static func entry(_ keyID: KeyID, _ folder: DataFolder) throws
        -> (team: TeamID, publicKeyPEM: String)?
    {
        guard let address = try FolderStore.address(in: folder) else {
            return try DatabaseFile(path: folder.database).providerKey(keyID)
        }
        return try PostgresInspection.providerKey(keyID, in: ["dbname": address])
    }

    /// Whether the running server shows a certificate that is trusted, and takes the token; `nil` where none runs.
    private static func running(_ token: String, folder: DataFolder, authority: String?) async -> Finding? {
        guard DataFolder.isLocked(folder.serveLock), let addresses = try? ServerAddresses.read(folder) else {
            return nil
        }
        var request = HTTPClientRequest(url: addresses.control + "/v1/notifications/1")
        request.headers.add(name: "authorization", value: "bearer \(token)")
        do {
            let (status, body) = try await ControlClient.exchange(request, authority: authority, timeout: .seconds(5))
            if status == 401 || status == 403 {
                return Finding(
                    what: "the running server refuses a provider token: \(ControlClient.message(body))",
                    remedy: "look whether its clock is right, and whether it runs on this folder", isProblem: true)
            }
            return Finding(what: "the running server's certificate is trusted, and it takes a provider token")
        } catch {
            return Finding(
                what: "\(error)",
                remedy: "commands and agents name the authority of its certificate with --ca, --agent-ca")
        }
    }

    /// Whether an agent answers at a socket, and whether it is connected.
    package static func agent(_ socket: String) -> Finding {
        guard let client = try? AgentClient.connect(to: socket) else {
            return Finding(what: "agent: none answers at \(socket)")
        }
        do {
            guard case .status(let status) = try client.ask(.status, within: 5) else {
                return Finding(what: "agent: it answers something else", remedy: "look at its log", isProblem: true)
            }
            let name = "agent: process \(status.process) at \(socket)"
            guard status.hasServer else { return Finding(what: "\(name), without a server") }
            if status.isConnected { return Finding(what: "\(name), connected to its server") }
            let why = status.serverFault.map { ": \($0)" } ?? ", which it has not tried to reach yet"
            return Finding(
                what: "\(name), not connected to its server\(why)",
                remedy: "it tries again by itself, and logs each failure")
        } catch {
            return Finding(what: "agent: \(error)", remedy: "look at its log", isProblem: true)
        }
    }
}
