import AldabaAPNs
import AldabaConfiguration
import ArgumentParser
import Foundation
import Glibc
import Networking

/// The options for sending through Apple, and for certificates.
struct AppleOptions: ParsableArguments {
    /// Apple's servers.
    enum Environment: String, ExpressibleByArgument, CaseIterable {
        case sandbox, production

        /// The host of the servers.
        var host: String { self == .sandbox ? "api.sandbox.push.apple.com" : "api.push.apple.com" }
    }

    @Option(
        name: .customLong("apple"),
        help: "Send through Apple's servers: sandbox for apps that Xcode installed, else production.")
    var environment: Environment?
    @Option(help: "A certificate and its key in one .pem; it takes the place of a provider token.")
    var certificate: String?
    @Option(help: "A certificate and its key in one .p12; it takes the place of a provider token.") var p12: String?
    @Option(help: "With --p12: a file with its passphrase; without it the terminal asks.") var passphraseFile: String?

    /// Whether a certificate takes the place of a provider token.
    var hasCertificate: Bool { certificate != nil || p12 != nil }

    /// The file of authorities that the environment names for programs that use OpenSSL.
    static var namedAuthority: String? {
        ProcessInfo.processInfo.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The fault of options that do not go together.
    func fault(
        topic: String?, isSimulatorFile: Bool, app: String?, server: String?, image: String?, signing: SigningOptions
    ) -> String? {
        if certificate != nil, p12 != nil {
            return "--certificate and --p12 both name the certificate: give one of them"
        }
        if passphraseFile != nil, p12 == nil { return "--passphrase-file needs --p12" }
        guard environment != nil else { return nil }
        if server != nil { return "--apple and --server both name the server: give one of them" }
        if app != nil { return "--apple needs --token: an app on this machine has no device token of Apple's" }
        if topic == nil, !isSimulatorFile { return "--apple needs --topic, the app's bundle id" }
        if !hasCertificate, signing.key == nil {
            return "--apple needs a credential of Apple's: --key AuthKey_X.p8 with --team, --p12 or --certificate"
        }
        if let image, !image.hasPrefix("https://") {
            return "--image with --apple is an https address: this server's files cannot be reached by a phone"
        }
        return nil
    }

    /// The words for a notification that Apple has accepted.
    func accepted(_ response: HTTP2Response) -> String {
        guard let unique = response.header("apns-unique-id") else { return "Apple has accepted the notification" }
        return "Apple has accepted the notification; its delivery log has the apns-unique-id \(unique)"
    }

    /// The certificate and its key; `nil` where a provider token is used.
    ///
    /// - Throws: ``CommandError`` with the option whose file cannot be used.
    func identity() throws -> ClientIdentity? {
        if let p12 { return try identity(inPKCS12: p12) }
        guard let certificate else { return nil }
        guard let text = try PrivateFile.secret(certificate)?.wrappedValue else {
            throw CommandError(.invalidInput, "--certificate: there is no file \(certificate)")
        }
        if let fault = CertificateFiles.fault(ofIdentity: text) {
            throw CommandError(
                .invalidInput,
                "--certificate: \(certificate): \(fault); it is to hold a certificate and its key in PEM; --p12 takes the "
                    + ".p12 of Keychain Access")
        }
        do { return try ClientIdentity(pem: text) } catch {
            throw CommandError(
                .invalidInput,
                "--certificate: \(certificate) does not hold a certificate and its key in PEM; --p12 takes the .p12 of "
                    + "Keychain Access")
        }
    }

    /// The certificate as a credential; `nil` where a provider token is used.
    ///
    /// - Throws: ``CommandError`` with the option whose file cannot be used.
    func credential() throws -> APNsCredential? { try identity().map { .certificate($0) } }

    private func identity(inPKCS12 path: String) throws -> ClientIdentity {
        guard let bytes = try PrivateFile.bytes(path) else {
            throw CommandError(.invalidInput, "--p12: there is no file \(path)")
        }
        let passphrase = try passphrase()
        do { return try ClientIdentity(pkcs12: bytes, passphrase: passphrase) } catch {
            throw CommandError(
                .invalidInput,
                "--p12: \(path) cannot be opened: the passphrase is wrong, or it is no file of PKCS #12 with a certificate "
                    + "and its key")
        }
    }

    private func passphrase() throws -> String {
        if let passphraseFile {
            guard let text = try PrivateFile.secret(passphraseFile)?.wrappedValue else {
                throw CommandError(.invalidInput, "--passphrase-file: there is no file \(passphraseFile)")
            }
            return text.trimmingCharacters(in: .newlines)
        }
        guard isatty(STDIN_FILENO) == 1, let typed = getpass("Passphrase: ") else { return "" }
        return String(cString: typed)
    }
}
