import Dispatch
import Foundation

/// The app's defaults on disk: `UserDefaults.standard`, and `UserDefaults(suiteName: GROUP)` of its groups.
///
/// Foundation on Linux reads and writes a suite's file only when it is synchronized: until then a process has what it
/// read first, and what it sets is in its memory alone. So the suites are synchronized before a handler gets something
/// and after it has answered, twice a second, and when the process exits. Without a change that costs no file access.
package enum AppDefaults {
    /// The time after which a change is on disk at the latest.
    private static let pace = DispatchTimeInterval.milliseconds(500)
    /// The groups of the app's manifest; none where the agent did not start this process.
    private static let groups = named(in: ProcessInfo.processInfo.environment)
    private static let queue = DispatchQueue(label: "aldaba.defaults", qos: .utility)
    private static let keeper: Void = {
        _ = atexit { AppDefaults.synchronize() }
        synchronizeLater()
    }()

    static func named(in environment: [String: String]) -> [String] {
        environment["ALDABA_APP_GROUPS"]?.split(separator: ":").map(String.init) ?? []
    }

    /// Writes what this process has set, and reads anew what others have.
    package static func synchronize() {
        UserDefaults.standard.synchronize()
        synchronize(groups)
    }

    static func synchronize(_ groups: [String]) {
        for group in groups { UserDefaults(suiteName: group)?.synchronize() }
    }

    /// Begins to synchronize, also when the process exits; does nothing when called again.
    static func keep() { keeper }

    private static func synchronizeLater() {
        queue.asyncAfter(deadline: .now() + pace) {
            synchronize()
            synchronizeLater()
        }
    }
}
