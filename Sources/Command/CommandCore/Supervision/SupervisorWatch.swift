import Foundation
import Glibc

/// Ends this process when the process that started it is gone, since its standard input closes then.
public enum SupervisorWatch {
    /// The variable that says that standard input is held open by a supervisor.
    public static let variable = "ALDABA_SUPERVISED"

    /// Begins to watch, if the environment says so: first asks this process to end (SIGTERM), and after five
    /// seconds ends it.
    public static func begin(environment: [String: String]) {
        guard environment[variable] != nil else { return }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { break }
            }
            kill(getpid(), SIGTERM)
            sleep(5)
            _exit(1)
        }
    }
}
