import Glibc

/// The standard input of this process, from the process that started it.
package enum StandardInput {
    /// Waits until the other end is closed by all its holders; bytes until then are discarded.
    package static func waitForEnd() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count == 0 || count < 0 && errno != EINTR { return }
        }
    }
}
