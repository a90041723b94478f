import AldabaConfiguration
import Foundation
import Glibc
import Logging
import PushCore
import PushServer

/// The link by which the first owner, or a person, sets a password in the console.
enum ConsoleLink {
    /// Makes a link and writes it into the data folder, for its owner alone.
    ///
    /// - Parameter person: The person; `nil` for the first owner.
    /// - Returns: The address.
    static func make(
        for person: PersonID?, lasting duration: Duration, in store: any PeopleStore, control: String,
        folder: DataFolder, at now: Timestamp
    ) async throws -> String {
        let secret = try await PeopleService.makeLink(for: person, lasting: duration, in: store, at: now)
        let address = "\(control)/console/setup?link=\(secret.text)"
        if person == nil { try PrivateFile.write(Array((address + "\n").utf8), to: folder.consoleSetUp) }
        return address
    }

    /// Makes the link of a server that nobody can log in to, once it listens; says where it is.
    static func announce(in store: any PeopleStore, control: String, folder: DataFolder, at now: Timestamp) async throws
    {
        guard try await store.people().isEmpty else {
            // A link that was made before somebody logged in leads nowhere.
            try? FileManager.default.removeItem(atPath: folder.consoleSetUp)
            return
        }
        let address = try await make(
            for: nil, lasting: PersonLink.setUp, in: store, control: control, folder: folder, at: now)
        // A log that others keep must not have the link.
        if isatty(STDERR_FILENO) == 1 {
            Terminal.write(
                "nobody can log in to the console yet: within ten minutes, open \(address); `aldaba person link` makes another"
            )
        } else {
            Logger(label: "aldaba.serve").notice(
                "nobody can log in to the console yet: within ten minutes, open the address in the file; `aldaba person link` makes another",
                metadata: ["aldaba.path": "\(folder.consoleSetUp)"])
        }
    }
}
