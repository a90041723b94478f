import Foundation

/// Ends the process when its standard input closes: whoever started it is gone.
enum SupervisorWatch {
    static func begin() {
        let thread = Thread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { exit(0) }
            }
        }
        thread.name = "supervisor"
        thread.start()
    }
}
