import AldabaConfiguration
import ArgumentParser
import Foundation
import Glibc
import Platform

/// `aldaba run`: a command that finds Aldaba where Apple's and Google's servers would be.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a test or a program whose pushes come here instead of Apple and Google.",
        usage: "aldaba run [<options>] -- <command> ...",
        discussion: """
            The command runs in a network of its own, in which fcm.googleapis.com, api.push.apple.com and the other hosts \
            of FCM and APNs are a server of this command's, with a certificate that the usual variables (SSL_CERT_FILE, \
            REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS and others) have it trust. No other host can be reached, unless --allow-network is given. Any key, \
            service account, app and token is accepted. What arrives is printed on standard error; the exit code is the \
            command's. Nothing is left behind.

            EXAMPLES:
              aldaba run -- python test.py
              aldaba run --quiet -- npm test
              aldaba run --ports -- python test.py    for a program whose hosts can be set, without namespaces
            """)
    @Flag(help: "Do not print a line for each notification that arrives.") var quiet = false
    @Flag(
        help: """
            Use no namespaces: the server listens on free ports of this machine, which ALDABA_APNS, ALDABA_FCM and \
            ALDABA_HTTP name for the command.
            """) var ports = false
    @Flag(
        help: """
            Treat connections to APNs as Apple does: one stream until a request is accepted and after each error, no new \
            provider token within 20 minutes, and an end after many errors.
            """) var appleLimits = false
    @Option(help: "A further host that is to be this server, such as a hub's: NAME.servicebus.windows.net.")
    var host: [String] = []
    @Flag(
        help: """
            Let the command reach other hosts too, by the program slirp4netns; ports of this machine's 127.0.0.1 are at \
            10.0.2.2.
            """) var allowNetwork = false
    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.") var command: [String] = []

    func validate() throws {
        if let wrong = host.first(where: { !Self.isHost($0) }) {
            throw ValidationError("--host: \(wrong) is no name of a host")
        }
        guard !ports || !allowNetwork else {
            throw ValidationError("with --ports the command has this machine's network; leave --allow-network out")
        }
        guard !command.isEmpty else {
            throw ValidationError("give the command after --, such as: aldaba run -- python test.py")
        }
    }

    private static func isHost(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let end =
            environment[RunNamespace.variable] == nil
            ? try RunNamespace.enter(isPlain: ports, allowsNetwork: allowNetwork, environment: environment)
            : try await RunSession(
                command, hosts: host, isQuiet: quiet, isPlain: ports, hasAppleLimits: appleLimits,
                allowsNetwork: allowNetwork,
                environment: environment
            ).run()
        switch end {
        case .exited(let code): Glibc.exit(code)
        case .signalled(let number): Glibc.exit(128 + number)
        }
    }
}
