import Glibc
import Platform

/// Notifies systemd that a service is ready (sd_notify(3), the variable `NOTIFY_SOCKET`).
package enum ReadyNotice {
    /// Sends `READY=1`, if a service manager waits for it.
    ///
    /// - Returns: Whether it was sent; `false` without the variable, or when there is no listener.
    @discardableResult
    package static func send(environment: [String: String]) -> Bool {
        guard let name = environment["NOTIFY_SOCKET"], let address = address(name) else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let message = Array("READY=1\n".utf8)
        let sent = address.withPointer { sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, $1) }
        return sent == message.count
    }

    /// An abstract name has an at sign in front; anything but that and an absolute path is no name.
    private static func address(_ name: String) -> UnixAddress? {
        if name.hasPrefix("@") { return UnixAddress(abstractName: String(name.dropFirst())) }
        return name.hasPrefix("/") ? UnixAddress(path: name) : nil
    }
}
