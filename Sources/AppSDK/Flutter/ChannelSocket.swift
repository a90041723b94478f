import AppHost
import CLinux
import Foundation
import Platform

/// The listening socket that hosts connect to.
enum ChannelSocket {
    /// The socket's default path; `nil` where the environment names none.
    ///
    /// - Parameter app: The app's bundle id.
    static func standardPath(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        app: String? = AppHostConfiguration.current().app?.rawValue
    ) -> String? {
        if let path = environment["ALDABA_FLUTTER_SOCKET"], !path.isEmpty { return path }
        guard let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty else { return nil }
        return "\(folder)/aldaba/flutter/\((app ?? "app").replacing("/", with: "_")).sock"
    }

    /// Reports something on standard error.
    static func report(_ sentence: String) {
        FileHandle.standardError.write(Data("Flutter channels: \(sentence)\n".utf8))
    }

    /// Listens in the background, and reports connections on threads of their own.
    static func listen(at path: String, notify: @escaping @Sendable (ChannelConnection.Notice) -> Void) {
        guard let descriptor = open(path) else { return }
        NamedThread.begin("flutter-accept") {
            while true {
                let host = accept(descriptor, nil, nil)
                if host < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    report("no connection can be taken any more: \(String(cString: strerror(errno)))")
                    return
                }
                _ = fcntl(host, F_SETFD, FD_CLOEXEC)
                guard isOwn(host) else {
                    Glibc.close(host)
                    continue
                }
                ChannelConnection.begin(host, notify: notify)
            }
        }
    }

    /// A socket in a folder that only this user may enter.
    private static func open(_ path: String) -> Int32? {
        do {
            try PrivateFolder.prepare(URL(fileURLWithPath: path).deletingLastPathComponent().path, shut: false)
        } catch {
            report("\(error)")
            return nil
        }
        guard let address = UnixAddress(path: path) else {
            report("the socket's path has more than \(UnixAddress.longestPath) bytes: \(path)")
            return nil
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        unlink(path)
        guard descriptor >= 0, address.withPointer({ bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
            Glibc.listen(descriptor, 8) == 0
        else {
            report("\(path) cannot be listened at: \(String(cString: strerror(errno)))")
            if descriptor >= 0 { Glibc.close(descriptor) }
            return nil
        }
        return descriptor
    }

    private static func isOwn(_ descriptor: Int32) -> Bool {
        var peer = aldaba_peer()
        return aldaba_peer_credentials(descriptor, &peer) == 0 && peer.uid == geteuid()
    }
}
