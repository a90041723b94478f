import ArgumentParser
import CommandCore
import Desktop
import DeviceStore
import Foundation
import Glibc

/// `aldaba doctor`: says what `up` would check, and what to do about it.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check what `up` needs, and say what to do about it.",
        discussion: ConfigurationDocument.help(for: .up))
    @Option(help: "The configuration file (default: aldaba.yaml in the current folder, if there).") var config: String?
    @Flag(help: "Print one JSON array.") var json = false
    @Argument(parsing: .allUnrecognized, help: .hidden) var settings: [String] = []

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let values = try ConfigurationFile.read(
            program: .up, arguments: settings, path: config, environment: environment)
        let findings = Diagnosis.findings(values, environment: environment) + [Self.bus(), Self.demoApp()]
        if json {
            try print(JSONLine.of(findings))
        } else {
            for finding in findings {
                print("\(finding.isProblem ? "problem" : "ok     ")  \(finding.what)")
                if let remedy = finding.remedy { print("         \(remedy)") }
            }
        }
        if findings.contains(where: \.isProblem) { throw CommandFailure(.failed, "") }
    }

    private static func bus() -> Finding {
        guard let address = DesktopPresenter.sessionBusAddress() else {
            return Finding(
                what: "no session bus: notifications are not shown on a screen",
                remedy: "log in to a desktop, or set DBUS_SESSION_BUS_ADDRESS")
        }
        return Finding(what: "session bus at \(address)")
    }

    private static func demoApp() -> Finding {
        let folder = (Bundle.main.executablePath as NSString?)?.deletingLastPathComponent ?? "."
        let path = folder + "/" + DemoApp.program
        if access(path, X_OK) == 0 { return Finding(what: "demo app \(path)") }
        return Finding(
            what: "the demo app \(path) is missing", remedy: "build it with `swift build --product aldaba`",
            isProblem: true)
    }
}
