import AldabaTestSupport
import Foundation

/// A session of the test's own: a virtual screen and a message bus that starts dunst when it is needed.
final class DesktopSession {
    static let isPossible =
        PrivateBus.isPossible
        && ["/usr/bin/Xvfb", "/usr/bin/dunst", "/usr/bin/dunstctl"]
            .allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether python3-dbusmock can stand in for other services.
    static let canMock =
        isPossible && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbusmock/__main__.py")

    static let dunst = "/usr/bin/dunst"

    /// The folder of dunst's configuration.
    let folder: TemporaryFolder
    private let bus: PrivateBus
    var address: String { bus.address }
    private let display: String
    private let screen: ForeignProgram

    /// - Parameters:
    ///   - server: What the bus starts for the notification server's name; `nil` for nothing.
    ///   - services: What else the bus starts when somebody speaks to it, by name.
    init(server: String? = dunst, services: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        // Nothing goes by itself, however slow the machine is.
        let configuration = ["low", "normal", "critical"].map { "[urgency_\($0)]\ntimeout = 0\n" }.joined()
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder.path("dunstrc")))
        screen = try ForeignProgram(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
        display = ":" + (try screen.readLine())
        let command = server == Self.dunst ? "\(Self.dunst) -conf \(folder.path("dunstrc"))" : server ?? ""
        let notifications = "org.freedesktop.Notifications"
        bus = try PrivateBus(
            services: services.merging(server == nil ? [:] : [notifications: command], uniquingKeysWith: { $1 }),
            environment: ["DISPLAY": display])
    }

    /// Starts the bus anew where it ended; returns when it listens.
    func beginBus() throws { try bus.begin() }

    /// Ends the bus: everything on it goes too.
    func endBus() { bus.end() }

    /// Runs dunst's own remote control; returns what it prints.
    @discardableResult
    func dunstctl(_ arguments: String...) throws -> String {
        try ForeignProgram(
            "/usr/bin/dunstctl", arguments, variables: ["DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": address]
        ).readToEnd().trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The process of the notification server.
    func processOfServer() throws -> pid_t? { try process(of: "org.freedesktop.Notifications") }

    /// The process that owns a name.
    func process(of name: String) throws -> pid_t? { try bus.process(of: name) }

    /// The answer to a call, as `dbus-send` prints it; the bus starts who is called.
    @discardableResult
    func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) throws -> String {
        try bus.call(name, path, method, arguments)
    }

    deinit {
        bus.end()
        screen.end()
    }
}
