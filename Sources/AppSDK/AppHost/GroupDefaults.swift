import Foundation

/// The defaults that an app and its extension share, `UserDefaults(suiteName: GROUP)`.
///
/// Foundation on Linux reads and writes a suite's file only when it is synchronized: until then a process has what it
/// read first, and what it sets is in its memory alone. So the suites of the app's groups are synchronized before a
/// handler gets something and after it has answered, and when the process exits.
package enum GroupDefaults {
    /// The groups of the app's manifest; none where the agent did not start this process.
    private static let groups = named(in: ProcessInfo.processInfo.environment)
    private static let atExit: Void = { _ = atexit { GroupDefaults.synchronize() } }()

    static func named(in environment: [String: String]) -> [String] {
        environment["ALDABA_APP_GROUPS"]?.split(separator: ":").map(String.init) ?? []
    }

    /// Writes what this process has set, and reads anew what others have.
    package static func synchronize() { synchronize(groups) }

    static func synchronize(_ groups: [String]) {
        for group in groups { UserDefaults(suiteName: group)?.synchronize() }
    }

    /// Has the suites synchronized when the process exits; does nothing when called again.
    static func synchronizeAtExit() { if !groups.isEmpty { atExit } }
}
