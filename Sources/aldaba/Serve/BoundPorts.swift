import APNsProtocol
import AldabaConfiguration
import ControlAPI
import FCMFrontend
import FCMProtocol
import Foundation
import NIOCore
import Networking
import Platform
import PushCore
import PushServer
import ServiceLifecycle

/// Reports the addresses when all are known; then has nothing more to do.
struct ReadyService: Service, CustomStringConvertible {
    let ports: BoundPorts
    let configuration: ServerConfiguration
    let people: any PeopleStore
    let clock: @Sendable () -> Timestamp
    let ready: @Sendable (ServerAddresses) throws -> Void
    var description: String { "ready notice" }

    func run() async throws {
        let isDevelopment = configuration.values.flag(.development)
        var addresses = ServerAddresses(
            process: ProcessInfo.processInfo.processIdentifier, host: configuration.clientHost,
            apnsPort: try await ports.apns.value(), devicePort: try await ports.device.value(),
            controlPort: try await ports.control.value(),
            httpPort: isDevelopment ? try await ports.http.value() : nil,
            metricsPort: try await ports.metrics.value(),
            legacyPort: configuration.serves(.legacyPort) ? try await ports.legacy.value() : nil,
            legacyFeedbackPort: configuration.serves(.legacyFeedbackPort)
                ? try await ports.legacyFeedback.value() : nil,
            sharedPort: configuration.serves(.sharedPort) ? try await ports.shared.value() : nil,
            environment: configuration.environment.rawValue)
        // A listener on every address is reached on loopback too.
        let metricsHost = configuration.metricsHost
        if !["127.0.0.1", "0.0.0.0", "::"].contains(metricsHost) { addresses.metricsHost = metricsHost }
        ports.allBound.set(true)
        if !isDevelopment {
            try await ConsoleLink.announce(
                in: people, control: addresses.control, folder: configuration.folder, at: clock())
        }
        try ready(addresses)
        // The first work after the start needs some of the same code.
        await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(1)) }
        ProgramPages.giveBackCode()
        try? await gracefulShutdown()
        ports.allBound.set(false)
    }
}

/// The ports of a server's listeners, as they become known.
struct BoundPorts: Sendable {
    /// Whether all of them are known, and the server does not stop yet.
    let allBound = ReadyFlag()
    let apns = Readiness<Int>()
    let device = Readiness<Int>()
    let control = Readiness<Int>()
    let http = Readiness<Int>()
    let metrics = Readiness<Int>()
    let legacy = Readiness<Int>()
    let legacyFeedback = Readiness<Int>()
    let shared = Readiness<Int>()
}

extension Readiness<Int> {
    /// Makes a port known.
    var known: @Sendable (Int) -> Void { { self.settle(.success($0)) } }
}

extension ConfigurationValues {
    /// The setting `media-url`, without a slash at its end.
    var controlAddress: String? {
        text(.mediaURL).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }
}

extension ServerConfiguration {
    /// The world that this server's provider API serves.
    var environment: PushEnvironment {
        values.text(.environment).flatMap(PushEnvironment.init) ?? .production
    }

    /// The admission of a listener that may have `total` connections.
    ///
    /// - Parameter unproven: How many may be without a valid credential. Each makes the server hold up to 16 KiB.
    ///   When a server begins again, all its devices come at once, so that a full listener may hold nothing else.
    func admission(total: Int, unproven: Int = 4096, proof: TimeAmount) -> ConnectionLimiter.Configuration {
        ConnectionLimiter.Configuration(
            limits: .init(
                total: total, perAddress: values.number(.connectionsPerAddress), unproven: min(unproven, total)),
            exempt: values.addressRanges(.proxies), proofTimeout: proof)
    }

    /// The files of notifications, and the address that devices have them by.
    func mediaServices(
        _ ports: BoundPorts, shared: MediaPeers?, clock: @escaping @Sendable () -> Timestamp
    ) throws -> MediaServices {
        let store = try MediaStore(
            folder: folder.media,
            settings: MediaStore.Settings(
                quota: Int64(values.number(.mediaQuota)) << 20,
                teamQuota: values.text(.mediaTeamQuota).flatMap { Int64($0) }.map { $0 << 20 },
                lifetime: Int64(values.number(.mediaExpiry)) * 3_600_000), shared: shared, clock: clock)
        let chosen = values.controlAddress
        return MediaServices(store: store) { [clientHost] in
            chosen ?? ports.control.current.map { "https://\(ServerAddresses.authority(clientHost, $0))" }
        }
    }

    /// The address of metrics, health and readiness.
    var metricsHost: String { values.text(.metricsHost) ?? "127.0.0.1" }

    /// The host that clients on this machine should name.
    var clientHost: String { ["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host }
}
