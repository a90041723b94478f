import AldabaConfiguration
import Foundation
import Logging
import NIOPosix
import Networking
import PushServer
import ServiceLifecycle

/// Runs the listener for clients that find the server under Apple's and Google's names.
struct SharedPortService: Service, CustomStringConvertible {
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let ports: BoundPorts
    let logger: Logger
    var description: String { "shared port" }

    func run() async throws {
        let (apns, control) = (try await ports.apns.value(), try await ports.control.value())
        let port = configuration.values.number(.sharedPort)
        let listener: SNIListener
        do {
            listener = try await SNIListener.bind(
                host: configuration.host, port: port,
                limiter: ConnectionLimiter(
                    listener: "shared", configuration.admission(total: budget.control, proof: .hours(1)),
                    logger: logger), on: MultiThreadedEventLoopGroup.singleton
            ) { name in
                name.map(VendorNames.isAPNs) == true ? apns : control
            }
        } catch { throw ServeCommand.cannotListen(configuration.host, port: port, error: error) }
        ports.shared.known(listener.port)
        try? await gracefulShutdown()
        await listener.close()
    }
}

/// The names under which applications find Apple's and Google's services.
enum VendorNames {
    /// Apple's hosts for providers.
    static let apns = [
        "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com", "gateway.push.apple.com",
        "gateway.sandbox.push.apple.com", "feedback.push.apple.com", "feedback.sandbox.push.apple.com",
        "api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com",
    ]
    /// Google's hosts for senders.
    static let fcm = [
        "fcm.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com", "accounts.google.com",
        "iid.googleapis.com",
        "fcmtopicsubscription.googleapis.com", "firebaseinstallations.googleapis.com",
        "fcmregistrations.googleapis.com",
    ]

    /// Mozilla's host for senders to Firefox.
    static let webPush = ["updates.push.services.mozilla.com"]
    /// All of them.
    static let all = apns + fcm + webPush

    /// Whether a name is a host for the management of broadcast channels, whose ports were those of the old binary
    /// interface.
    static func managesChannels(_ name: String) -> Bool { name.lowercased().hasPrefix("api-manage-broadcast.") }

    /// Whether a name is one of Apple's.
    static func isAPNs(_ name: String) -> Bool { name.lowercased().hasSuffix(".push.apple.com") }
}

extension ServerConfiguration {
    /// Makes the certificates of a development server that was given none; with a shared port they have its names too.
    func ensureDevelopmentCertificates() throws {
        guard values.flag(.development), values.text(.certificate) == nil else { return }
        let paths = DevelopmentCertificates.Paths(folder: folder.certificates)
        // A certificate that somebody else has put there stays, and so does one that cannot be read.
        guard access(paths.server, F_OK) != 0 || DevelopmentCertificates.hasSignedServer(paths) else { return }
        _ = try DevelopmentCertificates.ensure(folder: folder.certificates, names: certificateNames, now: Date())
    }

    /// The hosts that a development certificate names beside this machine's own.
    private var certificateNames: [String] {
        let hosts = values.text(.serverNames).map(ConfigurationType.serverNames(in:)) ?? []
        return (serves(.sharedPort) ? VendorNames.all : []) + hosts.filter { !$0.contains(":") }
    }

    /// A certificate of the development authority that has expired; `nil` where there is no such authority.
    func expiredCertificate() throws -> (certificate: String, key: String)? {
        try DevelopmentCertificates.expiredServer(folder: folder.certificates, names: certificateNames, now: Date())
    }

    /// Checks that settings for tests are set on a development server alone.
    func requireDevelopment(of keys: [ConfigurationKey]) throws {
        guard !values.flag(.development), let key = keys.first(where: values.flag) else { return }
        throw CommandError(
            .invalidInput,
            "\(key.rawValue) accepts whoever connects, so it goes with development only: add --development, or leave it out"
        )
    }
}
