import AgentEngine
import AldabaConfiguration
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Glibc
import LinuxDesktop
import NIOCore
import PostgresStore
import SQLiteStore

/// `aldaba doctor`: reports what `up` would check, and the remedies.
struct DoctorCommand: AsyncParsableCommand, ServerSettingGroups {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the requirements of `up`, or what a provider has, and print what is wrong.",
        usage: "aldaba doctor [<options>]",
        discussion: """
            \(SettingsHelp.places)

            EXAMPLES:
              aldaba doctor                              what is missing on this machine
              aldaba doctor --data /var/lib/aldaba       for a server's data folder
              aldaba doctor --provider --topic com.example.todo --token TOKEN   for a provider's credential and token
            """)
    @Flag(help: "Print one JSON array.") var json = false
    @OptionGroup(title: "OPTIONS OF A PROVIDER") var provider: ProviderDoctorOptions
    @OptionGroup var file: ConfigurationOption
    @OptionGroup(title: SettingTitle.shared) var shared: SharedSettings
    @OptionGroup(title: SettingTitle.server) var listeners: ListenerSettings
    @OptionGroup(title: SettingTitle.server) var server: ServerSettings
    @OptionGroup(title: SettingTitle.server) var media: MediaSettings
    @OptionGroup(title: SettingTitle.server) var console: ConsoleSettings
    @OptionGroup(title: SettingTitle.agent) var device: DeviceSettings

    func validate() throws {
        if let fault = provider.fault { throw ValidationError(fault) }
        if provider.p12 != nil, (listeners.given[.certificate] ?? nil) != nil {
            throw ValidationError("--certificate and --p12 both name the certificate: give one of them")
        }
    }

    func run() async throws {
        if provider.provider { return try show(await providerFindings()) }
        let environment = ProcessInfo.processInfo.environment
        let values = try values(of: .up, serverWords + device.words, environment: environment)
        for warning in values.warnings { Terminal.printError("warning: \(warning)") }
        let folder = values.text(.data).map(DataFolder.init) ?? .standard(environment: environment)
        var findings = Diagnosis.findings(values, environment: environment)
        let databases = DatabaseFindings.all(of: folder)
        findings += databases.map(\.finding)
        findings += [await Self.health(folder)].compactMap(\.self)
        if Self.canReadHubs(folder, databases) { findings += await Self.credentials(folder) }
        let made = DevelopmentCertificates.Paths(folder: folder.certificates).authority
        findings += await PathDiagnosis.provider(folder, authority: access(made, R_OK) == 0 ? made : nil)
        findings += [
            PathDiagnosis.agent(folder.agentSocket(environment: environment)), Self.bus(), Self.demoApp(),
        ]
        try show(findings)
    }

    private func show(_ findings: [Finding]) throws {
        if json {
            try print(JSONLine.of(findings))
        } else {
            for finding in findings {
                let word = finding.isProblem ? "problem" : finding.remedy == nil ? "ok     " : "note   "
                print(Terminal.text("\(word)  \(finding.what)"))
                if let remedy = finding.remedy { print(Terminal.text("         \(remedy)")) }
            }
        }
        if findings.contains(where: \.isProblem) { throw CommandError(.failed, "") }
    }

    /// The findings on a provider's credential, topic and device token.
    private func providerFindings() async -> [Finding] {
        var location = FolderOption()
        location.data = shared.given[.data] ?? nil
        // The setting of the server's certificate has the name of `send`'s option for a provider's.
        let apple = provider.apple(certificate: listeners.given[.certificate] ?? nil)
        do {
            let credential = try apple.credential() ?? provider.signing.credential(location)
            let credentialName = Finding(what: try provider.credentialName(location, apple))
            let (server, other) = try provider.servers(credential, location)
            let diagnosis = ProviderDiagnosis(
                topic: provider.topic ?? "", token: provider.token, server: server, other: other)
            return [credentialName] + (await diagnosis.findings())
        } catch {
            return [
                Finding(
                    what: "\(error)", remedy: "name the credential and the server as `send` takes them", isProblem: true
                )
            ]
        }
    }

    /// The state of the store as the server that runs on the folder reports it; `nil` where none does.
    private static func health(_ folder: DataFolder) async -> Finding? {
        guard DataFolder.isLocked(folder.serveLock), let addresses = try? ServerAddresses.read(folder) else {
            return nil
        }
        struct Answer: Decodable {
            var status: String
            var since: String?
            var reason: String?
            var remedy: String?
        }
        do {
            let (_, body) = try await ControlClient.exchange(
                HTTPClientRequest(url: addresses.metrics + "/health"), authority: nil, timeout: .seconds(5))
            let answer = try JSONDecoder().decode(Answer.self, from: body)
            guard let reason = answer.reason else { return Finding(what: "the running server stores what it is sent") }
            return Finding(
                what: "the running server refuses pushes with 503 since \(answer.since ?? "a while"): \(reason)",
                remedy: answer.remedy ?? "once its disk takes what is written, it goes on by itself", isProblem: true)
        } catch {
            return Finding(
                what: "the running server does not say how it is: \(error)", remedy: "look at its log", isProblem: true)
        }
    }

    /// Whether the hubs can be read. On PostgreSQL they are in the server's database, which a program of another version changes.
    private static func canReadHubs(
        _ folder: DataFolder, _ databases: [(database: ServerDatabase?, finding: Finding)]
    ) -> Bool {
        // A file or a database that cannot be read is among the findings.
        guard let address = (try? FolderStore.address(in: folder)) ?? nil else {
            return databases.contains { $0.database == .hub && !$0.finding.isProblem }
        }
        // The same holds here.
        return (try? PostgresInspection.isOfThisVersion(["dbname": address])) ?? false
    }

    /// Credentials of hubs that expire soon, or did.
    private static func credentials(_ folder: DataFolder) async -> [Finding] {
        do {
            return try await HubCredentialCheck.warnings(folder).map {
                Finding(what: $0, remedy: "`aldaba hub credential add` takes its successor", isProblem: true)
            }
        } catch {
            return [Finding(what: "the hubs' credentials cannot be read: \(error)", isProblem: true)]
        }
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
