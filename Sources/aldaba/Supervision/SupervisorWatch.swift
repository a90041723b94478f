import Glibc
import Platform

/// Ends this process when the process that started it is gone, since its standard input closes then.
package enum SupervisorWatch {
    /// The variable by which a supervisor declares that it holds standard input open.
    package static let variable = "ALDABA_SUPERVISED"

    /// Begins to watch, if the environment has the variable. When standard input ends, this process is first asked to
    /// end (SIGTERM), and killed after five seconds.
    package static func begin(environment: [String: String]) {
        guard environment[variable] != nil else { return }
        NamedThread.begin("aldaba-watch") {
            StandardInput.waitForEnd()
            kill(getpid(), SIGTERM)
            sleep(5)
            _exit(1)
        }
    }
}
