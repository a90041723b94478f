import Foundation
import Glibc
import Platform

/// The layout of a data folder: the path of everything that is kept in it. Making the value touches no file.
package struct DataFolder: Sendable, Hashable {
    /// The folder's absolute path.
    package let root: String

    /// The layout of a folder that need not exist.
    ///
    /// - Parameter root: The folder; a relative path counts from the current folder.
    package init(root: String) {
        self.root = URL(fileURLWithPath: root).standardizedFileURL.path
    }

    /// `$XDG_STATE_HOME/aldaba`, else `~/.local/state/aldaba` (XDG Base Directory Specification).
    package static func standard(environment: [String: String]) -> DataFolder {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return DataFolder(root: state + "/aldaba")
        }
        let home = environment["HOME"] ?? NSHomeDirectory()
        return DataFolder(root: home + "/.local/state/aldaba")
    }

    /// The server's database.
    package var database: String { root + "/server.sqlite" }
    /// The file with the address of the PostgreSQL database that is used in the place of the server's own.
    package var postgres: String { root + "/postgres" }
    /// The database of the notification hubs.
    package var hubDatabase: String { root + "/hub.sqlite" }
    /// The database of the relay accounts' devices.
    package var relayDatabase: String { root + "/relay.sqlite" }
    /// The names of the databases that the folder has had, one a line.
    package var databaseList: String { root + "/databases" }
    /// The folder of the development certificates.
    package var certificates: String { root + "/certificates" }
    /// The folder of the authority that signs certificates of providers.
    package var providerAuthority: String { certificates + "/providers" }
    /// The folder of provider keys; see ``KeyRing``.
    package var keys: String { root + "/keys" }
    /// The folder of the logs of the programs that `up` starts.
    package var logs: String { root + "/log" }
    /// The folder of the files that providers uploaded for their notifications.
    package var media: String { root + "/media" }
    /// The keys that seal device tokens.
    package var sealingKeys: String { root + "/token.key" }
    /// The service account by which `up` has FCM's libraries send to the demo app.
    package var serviceAccount: String { keys + "/service-account.json" }
    /// Manifests of the apps that the agent knows.
    package var manifests: String { root + "/apps" }
    /// The addresses of the server that runs on this folder.
    package var addresses: String { root + "/serve.json" }
    /// The link by which the first owner sets a password in the console.
    package var consoleSetUp: String { root + "/console-setup.txt" }
    /// The process ids of the children of a running `up`.
    package var processes: String { root + "/pids.json" }
    /// The variables of a running `up` for a shell that reads them.
    package var shellVariables: String { root + "/environment" }
    /// The file with the notifications handed to the demo app, one `apns-id` a line; the app's output is in `app.log`
    /// beside it.
    package var appLog: String { logs + "/handed.log" }
    /// The lock that a running `up` holds.
    package var upLock: String { root + "/up.lock" }
    /// The lock that a running `serve` holds.
    package var serveLock: String { root + "/serve.lock" }
    /// The lock that a running `agent` holds.
    package var agentLock: String { root + "/agent.lock" }

    /// Makes the folder and those in it, 0700.
    ///
    /// - Throws: Also when the folder is open to others, and nothing in it shows that it is a data folder.
    package func make() throws(PrivateFile.Failure) {
        let marks = [
            "server.sqlite", "agent.sqlite", "databases", "up.lock", "serve.lock", "agent.lock", "token.key",
            "postgres",
        ]
        try PrivateFile.makeFolder(root, marks: marks)
        // A folder of these names is ours, whatever it holds, if this user owns it.
        for folder in [certificates, keys, logs, manifests] { try PrivateFile.makeFolder(folder, marks: ["."]) }
    }

    /// The path of the agent's socket: in the folder, or elsewhere when that path is too long for a socket (the
    /// kernel takes 107 bytes, unix(7)).
    ///
    /// - Parameter environment: For `XDG_RUNTIME_DIR`, the first choice when the folder's own path is too long.
    package func agentSocket(environment: [String: String]) -> String {
        let own = root + "/agent.sock"
        if own.utf8.count <= UnixAddress.longestPath { return own }
        // The name repeats from run to run, so that apps that live on find the new agent.
        let name = "aldaba-\(geteuid())-\(String(Self.shortHash(root), radix: 36))"
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"), runtime.utf8.count < 60 {
            return "\(runtime)/\(name)/agent.sock"
        }
        return "/tmp/\(name)/agent.sock"
    }

    /// FNV-1a, 64 bits: the same in every process, which Swift's own hash is not.
    private static func shortHash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
