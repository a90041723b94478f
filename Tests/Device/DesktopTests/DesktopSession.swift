import AldabaTestSupport
import Foundation

/// A session of the test's own: a virtual screen and a message bus that starts dunst when it is needed.
final class DesktopSession {
    static let isPossible = ["/usr/bin/Xvfb", "/usr/bin/dbus-daemon", "/usr/bin/dunst", "/usr/bin/dunstctl"]
        .allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether python3-dbusmock can stand in for other services.
    static let canMock =
        isPossible && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbusmock/__main__.py")

    static let dunst = "/usr/bin/dunst"

    let folder: TemporaryFolder
    let address: String
    private let display: String
    private var children: [Process] = []

    /// - Parameters:
    ///   - server: What the bus starts for the notification server's name; `nil` for nothing.
    ///   - services: What else the bus starts when somebody speaks to it, by name.
    init(server: String? = dunst, services: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        // Nothing goes by itself, however slow the machine is.
        let configuration = ["low", "normal", "critical"].map { "[urgency_\($0)]\ntimeout = 0\n" }.joined()
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder.path("dunstrc")))
        let screen = try Self.start(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"], [:])
        display = ":" + screen.line
        let command = server == Self.dunst ? "\(Self.dunst) -conf \(folder.path("dunstrc"))" : server ?? ""
        let notifications = "org.freedesktop.Notifications"
        let started = services.merging(server == nil ? [:] : [notifications: command], uniquingKeysWith: { $1 })
        for (name, command) in started {
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
        address = "unix:path=\(folder.path("bus"))"
        children = [screen.process]
        try beginBus()
    }

    /// Starts the bus, anew where it ended; returns when it listens.
    func beginBus() throws {
        let bus = try Self.start(
            "/usr/bin/dbus-daemon", ["--config-file=\(folder.path("bus.conf"))", "--nofork", "--print-address=1"],
            ["DISPLAY": display, "DBUS_SYSTEM_BUS_ADDRESS": address])
        children.insert(bus.process, at: 0)
    }

    /// Runs dunst's own remote control; returns what it prints.
    @discardableResult
    func dunstctl(_ arguments: String...) throws -> String {
        let tool = try Self.start(
            "/usr/bin/dunstctl", arguments, ["DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": address],
            waitsForLine: false)
        let output = tool.output.readDataToEndOfFile()
        tool.process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Ends the bus: everything on it goes too.
    func endBus() {
        Self.end(children.removeFirst())
    }

    /// The process of the notification server.
    func processOfServer() throws -> pid_t? { try process(of: "org.freedesktop.Notifications") }

    /// The process that owns a name.
    func process(of name: String) throws -> pid_t? {
        let answer = try call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
            "string:\(name)")
        return answer.split(separator: " ").last.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The answer to a call, as `dbus-send` prints it; the bus starts who is called.
    @discardableResult
    func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) throws -> String {
        let tool = try Self.start(
            "/usr/bin/dbus-send",
            ["--bus=\(address)", "--print-reply=literal", "--dest=\(name)", path, method] + arguments, [:],
            waitsForLine: false)
        let output = String(decoding: tool.output.readDataToEndOfFile(), as: UTF8.self)
        tool.process.waitUntilExit()
        return output
    }

    deinit {
        children.forEach(Self.end)
    }

    /// Children inherit the blocked signals of the thread that starts them, so SIGTERM may not reach them.
    private static func end(_ child: Process) {
        kill(child.processIdentifier, SIGKILL)
        child.waitUntilExit()
    }

    private static func start(
        _ path: String, _ arguments: [String], _ variables: [String: String], waitsForLine: Bool = true
    ) throws -> (process: Process, line: String, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin"].merging(variables) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var line = ""
        while waitsForLine, let byte = try pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 {
            line.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return (process, line, pipe.fileHandleForReading)
    }
}
