import Glibc

/// What this process reads from who started it.
package enum StandardInput {
    /// Waits until nobody holds the other end any more; what comes until then is passed over.
    package static func waitForEnd() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count == 0 || count < 0 && errno != EINTR { return }
        }
    }
}
