import AldabaConfiguration
import ControlAPI
import Foundation
import Logging
import Metrics
import NIOSSL
import Networking
import PushCore
import PushServer
import ServiceLifecycle
import Synchronization

/// The server's certificate as each listener takes it, for every new connection anew. Thread-safe.
///
/// Connections keep the certificate with which they began.
final class ServerCertificate: Sendable {
    private struct Contexts: Sendable {
        var names: [String]
        /// When the certificate ends.
        var end: Date
        /// Whether the files hold what can be used at present.
        var isUsable = true
        var provider: NIOSSLContext
        var plain: NIOSSLContext
        var upgradable: NIOSSLContext
        var certified: NIOSSLContext
    }

    private let certificate: String
    private let key: String
    private let contexts: Mutex<Contexts>
    /// The files as they were before the first reading.
    private let watch: FileWatch
    /// The faults of tests, and the certificate that has expired for one of them; `nil` outside of development.
    private let faults: FaultPlan?
    private let expired: Contexts?
    private let expiry = Gauge(label: "aldaba_certificate_expiry_timestamp_seconds")
    /// 0 while the files hold what cannot be used, such as a key that does not fit.
    private let usable = Gauge(label: "aldaba_certificate_files_usable")

    /// Reads the files that the configuration names.
    ///
    /// - Throws: when they cannot be used, in a sentence.
    init(_ configuration: ServerConfiguration, faults: FaultPlan?, logger: Logger) throws {
        certificate = configuration.certificate
        key = configuration.certificateKey
        self.faults = faults
        expired = try faults.flatMap { _ in try configuration.expiredCertificate() }.map {
            try Self.contexts(chain: $0.certificate, key: $0.key, names: [], end: .distantPast)
        }
        watch = FileWatch([certificate, key])
        do {
            let (contexts, files) = try Self.read(certificate, key)
            self.contexts = Mutex(contexts)
            reportValidity(files, logger)
        } catch {
            throw CommandError(
                .invalidInput,
                "\(error). Give --certificate and --certificate-key, or let `aldaba up` make them for development")
        }
    }

    /// The hosts that the certificate names.
    var names: [String] { contexts.withLock { $0.names } }

    /// When the certificate ends, for the server's status.
    var ending: EndingCertificate {
        contexts.withLock {
            EndingCertificate(
                kind: .server, name: $0.names.joined(separator: ", "),
                endsAt: Timestamp(rawValue: Int64($0.end.timeIntervalSince1970) * 1000), isUsable: $0.isUsable)
        }
    }

    /// TLS of the provider API.
    var provider: @Sendable () -> NIOSSLContext { { self.context { $0.provider } } }

    /// TLS of the control API; that of a development server offers HTTP/2 too.
    var control: @Sendable () -> NIOSSLContext {
        { [isUpgradable = faults != nil] in self.context { isUpgradable ? $0.upgradable : $0.plain } }
    }

    /// The context of a new connection, which a test may have set a fault for.
    private func context(_ select: (Contexts) -> NIOSSLContext) -> NIOSSLContext {
        if let expired, faults?.takeExpiredCertificate() == true { return select(expired) }
        return contexts.withLock { select($0) }
    }

    /// TLS of the old binary interface: clients must show a certificate.
    var certified: @Sendable () -> NIOSSLContext { { self.contexts.withLock { $0.certified } } }

    /// TLS of the other listeners.
    var plain: @Sendable () -> NIOSSLContext { { self.contexts.withLock { $0.plain } } }

    /// Reads the files again whenever they have changed, and when SIGHUP comes; files that cannot be used change
    /// nothing.
    func keepCurrent(every interval: DispatchTimeInterval, logger: Logger) async {
        var watch = watch
        await ReloadTriggers.forEach(every: interval) { occasion in
            let hasChanged = watch.hasChanged()
            guard hasChanged || occasion == .asked else { return }
            do {
                let (contexts, files) = try Self.read(certificate, key)
                self.contexts.withLock { $0 = contexts }
                logger.notice("read the certificate again", metadata: [LogKey.path: "\(certificate)"])
                reportValidity(files, logger)
            } catch {
                usable.record(0)
                contexts.withLock { $0.isUsable = false }
                logger.error(
                    "the certificate stays as it was: what its files hold now cannot be used",
                    metadata: [LogKey.error: "\(error)"])
            }
        }
    }

    private func reportValidity(_ files: CertificateFiles, _ logger: Logger) {
        usable.record(1)
        expiry.record(files.end.timeIntervalSince1970.rounded())
        let days = files.daysLeft(at: Date())
        if days < CertificateFiles.renewalDays {
            logger.warning(
                days < 0 ? "the certificate has ended" : "the certificate ends in \(days) days",
                metadata: [LogKey.path: "\(certificate)"])
        }
    }

    private static func read(_ certificate: String, _ key: String) throws -> (Contexts, CertificateFiles) {
        let files = try CertificateFiles(certificate: certificate, key: key)
        do {
            return (try contexts(chain: files.chain, key: files.key, names: files.names, end: files.end), files)
        } catch {
            throw CertificateFiles.Unusable(path: certificate, reason: "with \(key) it cannot be used: \(error)")
        }
    }

    private static func contexts(
        chain: String, key: String, names: [String], end: Date
    ) throws -> Contexts {
        var plain = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        plain.minimumTLSVersion = .tlsv12
        // How long a connection that we close waits for the peer's close_notify, which has no further use (RFC
        // 8446, section 6.1). A peer that is gone, or keeps the connection in a pool, never sends it.
        plain.shutdownTimeout = .milliseconds(100)
        var http2 = plain
        http2.applicationProtocols = ["h2"]
        // Providers may present a certificate; the provider API checks its owner, and answers with a reason.
        http2.certificateVerification = .optionalVerification
        // Nor are the system's authorities asked, which a machine need not have.
        http2.trustRoots = .certificates([])
        var upgradable = plain
        upgradable.applicationProtocols = ["h2", "http/1.1"]
        var certified = plain
        // Whose it is and whether it counts, the endpoint asks the register.
        certified.certificateVerification = .noHostnameVerification
        certified.trustRoots = .certificates([])
        return Contexts(
            names: names, end: end, provider: try NIOSSLContext(configuration: http2),
            plain: try NIOSSLContext(configuration: plain),
            upgradable: try NIOSSLContext(configuration: upgradable),
            certified: try NIOSSLContext(configuration: certified))
    }
}

/// Keeps the certificate current while the server runs.
struct CertificateReloadService: Service, CustomStringConvertible {
    let certificate: ServerCertificate
    let logger: Logger
    var description: String { "certificate" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await certificate.keepCurrent(every: .seconds(30), logger: logger)
        }
    }
}
