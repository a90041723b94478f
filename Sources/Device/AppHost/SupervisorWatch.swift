import Foundation

/// Ends the process when its standard input closes: whoever started it is gone.
enum SupervisorWatch {
    static func begin() {
        Thread.detachNewThread {
            // Only the thread itself can tell the system its name, of at most fifteen bytes.
            Thread.current.name = "aldaba-watch"
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { exit(0) }
            }
        }
    }
}
