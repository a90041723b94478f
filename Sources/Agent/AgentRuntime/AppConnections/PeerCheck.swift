import AgentEngine
import CLinux
import Foundation
import PushCore

/// The process at the other end of a Unix socket, as the kernel reports it.
package struct Peer: Sendable, Hashable {
    /// The process id at the time of the connection.
    package var process: pid_t
    /// The user that it ran as when it connected.
    package var user: uid_t
    /// The file that it ran when its connection was accepted; `nil` when that could not be read.
    package var program: String?

    /// A peer whose program could not be read, unless one is given.
    package init(process: pid_t, user: uid_t, program: String? = nil) {
        self.process = process
        self.user = user
        self.program = program
    }
}

/// Checks that a process which claims to be an app is that app.
package struct PeerCheck: Sendable {
    /// The file that a process runs; `nil` when it cannot be read. A parameter, so that tests can replace it.
    package var executable: @Sendable (pid_t) -> String?
    /// The user that apps must run as: the agent's own.
    package var user: uid_t

    /// A check against this user, with a function that returns the file that a process runs.
    package init(executable: @escaping @Sendable (pid_t) -> String?, user: uid_t) {
        self.executable = executable
        self.user = user
    }

    /// Reads `/proc`.
    package static let system = PeerCheck(
        executable: program(of:), user: getuid())

    /// The file that a process runs.
    package static func program(of process: pid_t) -> String? {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
        // Linux appends this mark when the file was replaced while it ran, as a new build does.
        let mark = " (deleted)"
        return link.map { $0.hasSuffix(mark) ? String($0.dropLast(mark.count)) : $0 }
    }

    /// Whether the peer runs this very program as this user.
    package func isOwn(_ peer: Peer) -> Bool {
        guard peer.user == user, let running = executable(peer.process), running == peer.program else { return false }
        return running == executable(getpid())
    }

    /// Checks whether the peer is the app of a manifest.
    ///
    /// - Parameters:
    ///   - secret: The peer's secret; counts only where the manifest demands one.
    ///   - expected: The app's secret; `nil` when there is none.
    /// - Returns: `nil` when the peer is the manifest's app and runs as this user, else the fault.
    package func fault(of peer: Peer, as manifest: AppManifest, secret: String?, expected: String?) -> String? {
        guard peer.user == user else { return "it runs as another user" }
        guard !manifest.provesBySecret else {
            guard let expected else {
                return "its secret is missing, or others can read it; install its manifest again"
            }
            return !expected.isEmpty && ConstantTime.equal((secret ?? "").utf8, expected.utf8)
                ? nil : "its secret is not the one beside its manifest"
        }
        guard let running = executable(peer.process) else { return "its program cannot be read from /proc" }
        let program = URL(fileURLWithPath: manifest.executable).resolvingSymlinksInPath().path
        guard running == program else { return "it runs \(running), and its manifest says \(program)" }
        // Else a program could connect, and start the app in its own place.
        guard peer.program == program else {
            return
                "it ran \(peer.program ?? "what could not be read") when it connected, and its manifest says \(program)"
        }
        return nil
    }
}
