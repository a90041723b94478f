import AldabaAPNs
import AldabaConfiguration
import ArgumentParser
import Foundation
import Networking

/// The options of `doctor --provider`.
struct ProviderDoctorOptions: ParsableArguments {
    @Flag(
        help: """
            Check what a provider has, its credential, topic and device token, in place of this machine. Nothing is shown on \
            a device.
            """)
    var provider = false
    @Option(help: "With --provider: the app's bundle id.") var topic: String?
    @Option(help: "With --provider: a device token of the app.") var token: String?
    @Option(
        name: .customLong("apple"),
        help: "With --provider: ask Apple's servers: sandbox for apps that Xcode installed, else production.")
    var environment: AppleOptions.Environment?
    @Option(help: "With --provider: ask this server, host:port; without it the one that runs on the data folder.")
    var server: String?
    @Option(help: "With --provider: the authority of the server's certificate, PEM.") var ca: String?
    @Option(help: "A certificate and its key in one .p12; it takes the place of a provider token.") var p12: String?
    @Option(help: "With --p12: a file with its passphrase; without it the terminal asks.") var passphraseFile: String?
    @OptionGroup var signing: SigningOptions

    /// The fault of options that do not go together.
    var fault: String? {
        let others: [Any?] = [
            topic, token, environment, server, ca, p12, passphraseFile, signing.key, signing.keyID, signing.team,
        ]
        guard provider else {
            return others.contains { $0 != nil }
                ? "--topic, --token, --key, --p12, --apple and --server need --provider" : nil
        }
        if passphraseFile != nil, p12 == nil { return "--passphrase-file needs --p12" }
        if topic == nil { return "--provider needs --topic, the app's bundle id" }
        if environment != nil, server != nil { return "--apple and --server both name the server: give one of them" }
        return nil
    }

    /// The options of the credential as `send` has them.
    ///
    /// - Parameter certificate: The certificate and its key in one .pem.
    func apple(certificate: String?) -> AppleOptions {
        var apple = AppleOptions()
        (apple.environment, apple.certificate) = (environment, certificate)
        (apple.p12, apple.passphraseFile) = (p12, passphraseFile)
        return apple
    }

    /// The name of the credential for people.
    func credentialName(_ location: FolderOption, _ apple: AppleOptions) throws -> String {
        if let path = apple.p12 ?? apple.certificate { return "the certificate and its key in \(path) can be read" }
        let (file, team) = try signing.keyFile(location)
        return "provider key \(file.keyID) of team \(team)"
    }

    /// The server that is asked, and for Apple that of the other environment.
    func servers(
        _ credential: APNsCredential, _ location: FolderOption
    ) throws -> (ProviderDiagnosis.Server, other: ProviderDiagnosis.Server?) {
        if let environment {
            let made = try AppleOptions.Environment.allCases.map { each in
                ProviderDiagnosis.Server(
                    name: "Apple's \(each.rawValue) server", environment: each,
                    client: try makeClient(
                        of: each.host, port: 443, authority: ca ?? AppleOptions.namedAuthority, credential: credential))
            }
            let others = made.filter { $0.environment != environment }
            guard let own = made.first(where: { $0.environment == environment }) else {
                throw CommandError(.usage, "--apple is sandbox or production")
            }
            return (own, others.first)
        }
        let (host, port): (String, Int)
        if let server {
            guard let parts = ServerAddresses.parts(ofAuthority: server) else {
                throw CommandError(.invalidInput, "--server: \"\(server)\" is not host:port")
            }
            (host, port) = parts
        } else {
            let addresses = try location.addresses()
            (host, port) = (addresses.host, addresses.apnsPort)
        }
        let client = try makeClient(
            of: host, port: port, authority: ca ?? location.authority, credential: credential)
        let name = "the server \(ServerAddresses.authority(host, port))"
        return (ProviderDiagnosis.Server(name: name, environment: nil, client: client), nil)
    }

    private func makeClient(
        of host: String, port: Int, authority: String?, credential: APNsCredential
    ) throws -> APNsClient {
        var options = APNsOptions()
        (options.waitsForConnectivity, options.deadline) = (false, .seconds(10))
        return try .forCommand(credential: credential, host: host, port: port, authority: authority, options: options)
    }
}
