import AldabaConfiguration
import ArgumentParser
import CenterPages
import ControlAPI
import Foundation
import Logging
import RelayAgent
import RelayProtocol
import ServiceLifecycle

/// `aldaba center`: the notification centre and its settings as pages in the browser.
struct CenterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "center", abstract: "Show notifications and settings in the browser.",
        discussion: """
            It prints the address of the pages, opens it in the browser, and serves the pages until it is ended by Ctrl-C. \
            They list, open, answer and dismiss the notifications of all apps, and change what each app may do. The address \
            works on this machine only and contains a token of this run: whoever has it can do all that.

            EXAMPLES:
              aldaba center                  in the browser
              aldaba center --no-browser     prints the address only
            """)
    @Flag(help: "Only print the address.") var noBrowser = false
    @OptionGroup var agent: AgentOption

    func run() async throws {
        // Without an agent there is nothing to show.
        _ = try agent.connect()
        var generator = SystemRandomNumberGenerator()
        let session = CenterSession(using: &generator)
        let launcher = try noBrowser ? nil : CenterLauncher()
        defer { launcher?.end() }
        var logger = Logger(label: "aldaba.center")
        logger.logLevel = .error
        let pages = CenterInterface(
            session: session, agent: CenterAgent(connect: { [agent] in try agent.connect() }),
            environment: ProcessInfo.processInfo.environment)
        let listener = ControlListener(.pages(pages), port: 0, logger: logger) { port in
            try? FileHandle.standardOutput.write(contentsOf: Data((session.address(port: port) + "\n").utf8))
            launcher?.open(session.address(port: port))
        }
        let group = ServiceGroup(
            services: [listener], gracefulShutdownSignals: [.sigint, .sigterm, .sighup], logger: logger)
        do { try await group.run() } catch let failure as ControlListener.Failure {
            throw ServeCommand.cannotListen(failure.host, port: failure.port, error: failure.underlying)
        }
    }
}

/// Opens the address in the person's browser by a file of theirs that leads to it: every user of a machine can read the arguments of its
/// programs.
struct CenterLauncher: Sendable {
    private let folder: String
    private let opener = DesktopOpener()

    /// Makes a folder that only this user can read.
    init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/aldaba-center-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError(.failed, "cannot make a folder: \(String(cString: strerror(errno)))")
        }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Opens it, and tells the person where that fails.
    func open(_ address: String) {
        let file = folder + "/center.html"
        do { try PrivateFile.write(CenterLayout.launcher(to: address).utf8, to: file) } catch {
            return Terminal.printError("no browser is opened: \(error)")
        }
        opener.open(URL(fileURLWithPath: file).absoluteString, app: nil) { outcome in
            guard outcome.status != .success else { return }
            Terminal.printError(
                "no browser is opened: \(outcome.detail ?? "\(outcome.status)"); open the address above")
        }
    }

    /// Removes the folder.
    func end() { try? FileManager.default.removeItem(atPath: folder) }
}
