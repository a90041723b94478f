import Foundation

/// A message bus of the test's own: a real dbus-daemon in a folder of its own, which starts services when they are called.
package final class PrivateBus {
    private static let daemon = "/usr/bin/dbus-daemon"
    /// Whether the daemon is installed.
    package static let isPossible = FileManager.default.isExecutableFile(atPath: daemon)

    /// The folder of its files.
    package let folder: TemporaryFolder
    /// Where it listens, for `DBUS_SESSION_BUS_ADDRESS` and `DBUS_SYSTEM_BUS_ADDRESS`.
    package let address: String
    private let environment: [String: String]
    private var process: ForeignProgram?

    /// Starts it; returns when it listens.
    ///
    /// - Parameters:
    ///   - services: The commands that the bus runs when somebody speaks to a name.
    ///   - environment: What these find, beside the bus as the system's.
    package init(services: [String: String] = [:], environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        address = "unix:path=\(folder.path("bus"))"
        self.environment = environment
        for (name, command) in services {
            try Data("[D-BUS Service]\nName=\(name)\nExec=\(command)\n".utf8)
                .write(to: URL(fileURLWithPath: folder.path("\(name).service")))
        }
        try Data(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
              "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>unix:path=\(folder.path("bus"))</listen>
            <servicedir>\(folder.url.path)</servicedir>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """.utf8
        ).write(to: URL(fileURLWithPath: folder.path("bus.conf")))
        try begin()
    }

    /// Starts the bus anew where it ended; returns when it listens.
    package func begin() throws {
        let variables = environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 }
        let daemon = try ForeignProgram(
            Self.daemon, ["--config-file=\(folder.path("bus.conf"))", "--nofork", "--print-address=1"],
            variables: variables)
        process = daemon
        _ = try daemon.readLine()
    }

    /// Ends the bus: everything on it goes too.
    package func end() {
        process?.end()
        process = nil
    }

    /// The process that owns a name.
    package func process(of name: String) throws -> pid_t? {
        let answer = try call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
            "string:\(name)")
        return answer.split(separator: " ").last.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The answer to a call, as `dbus-send` prints it; the bus starts who is called.
    @discardableResult
    package func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) throws -> String {
        try call(name, path, method, arguments)
    }

    /// The answer to a call, as `dbus-send` prints it; the bus starts who is called.
    @discardableResult
    package func call(_ name: String, _ path: String, _ method: String, _ arguments: [String]) throws -> String {
        try send(["--print-reply=literal", "--dest=\(name)", path, method] + arguments)
    }

    /// Sends a signal, as somebody whom nobody knows, to everybody or to one connection directly.
    package func signal(_ path: String, _ member: String, _ arguments: String..., to name: String? = nil) throws {
        _ = try send(["--type=signal"] + (name.map { ["--dest=\($0)"] } ?? []) + [path, member] + arguments)
    }

    private func send(_ arguments: [String]) throws -> String {
        try ForeignProgram("/usr/bin/dbus-send", ["--bus=\(address)"] + arguments).readToEnd()
    }

    deinit { end() }
}
