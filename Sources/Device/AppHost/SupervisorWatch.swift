import Foundation
import Machine

/// Ends the process when its standard input closes: whoever started it is gone.
enum SupervisorWatch {
    static func begin() {
        OwnThread.begin("aldaba-watch") {
            StandardInput.waitForEnd()
            exit(0)
        }
    }
}
