import Glibc
import Machine

/// Ends this process when the process that started it is gone, since its standard input closes then.
public enum SupervisorWatch {
    /// The variable that says that standard input is held open by a supervisor.
    public static let variable = "ALDABA_SUPERVISED"

    /// Begins to watch, if the environment says so: first asks this process to end (SIGTERM), and after five
    /// seconds ends it.
    public static func begin(environment: [String: String]) {
        guard environment[variable] != nil else { return }
        OwnThread.begin("aldaba-watch") {
            StandardInput.waitForEnd()
            kill(getpid(), SIGTERM)
            sleep(5)
            _exit(1)
        }
    }
}
