import Glibc

/// Tells systemd that a service is ready (sd_notify(3), the variable `NOTIFY_SOCKET`).
public enum ReadyNotice {
    /// Sends `READY=1`, if somebody waits for it.
    ///
    /// - Returns: Whether it was sent; `false` without the variable, or when nobody listens there.
    @discardableResult
    public static func send(environment: [String: String]) -> Bool {
        guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        // An abstract name begins with NUL; the variable has an at sign in its place.
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let message = Array("READY=1\n".utf8)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == message.count
    }
}
