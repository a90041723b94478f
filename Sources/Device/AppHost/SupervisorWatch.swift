import Foundation
import Machine

/// Ends the process when its standard input closes: whoever started it is gone.
enum SupervisorWatch {
    static func begin() {
        OwnThread.begin("aldaba-watch") {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { exit(0) }
            }
        }
    }
}
