import Foundation
import PushCore

/// A server's configuration, checked as a whole.
package struct ServerConfiguration: Sendable {
    /// The folder of the server's data.
    package var folder: DataFolder
    /// The IP address that the TLS listeners bind.
    package var host: String
    /// All values that were given, each checked for itself.
    package var values: ConfigurationValues
    /// The path of the certificate chain, PEM: the one that was given, else the development certificate's.
    package var certificate: String
    /// The path of that certificate's private key, PEM.
    package var certificateKey: String
    /// The ports of a load balancer on this machine in front of the control API's listeners.
    package var loadBalancerPorts: [Int] = []

    /// Brings the values into one; `environment` is for the standard data folder.
    ///
    /// - Throws: ``ConfigurationFaults`` when values do not go together.
    package init(_ values: ConfigurationValues, environment: [String: String]) throws(ConfigurationFaults) {
        self.values = values
        folder = values.text(.data).map(DataFolder.init) ?? .standard(environment: environment)
        host = values.text(.host) ?? "127.0.0.1"
        let made = DevelopmentCertificates.Paths(folder: folder.certificates)
        certificate = values.text(.certificate) ?? made.server
        certificateKey = values.text(.certificateKey) ?? made.serverKey
        var faults: [ConfigurationFault] = []
        let isOwnNetwork = Self.isLoopback(host) || values.flag(.testNetwork)
        if values.flag(.development), !isOwnNetwork {
            faults.append(
                ConfigurationFault(
                    origin: values.origin(.development), what: "development with host \(host)",
                    right:
                        "development needs no credentials, so it goes with host 127.0.0.1 or ::1 only, or with test-network"
                ))
        }
        for key in [ConfigurationKey.acceptAnyCredential, .acceptAnyToken]
        where values.flag(key) && !isOwnNetwork {
            faults.append(
                ConfigurationFault(
                    origin: values.origin(key), what: "\(key.rawValue) with host \(host)",
                    right: "whoever connects is accepted, so it goes with host 127.0.0.1 or ::1 only"))
        }
        let ports: [ConfigurationKey] = [
            .apnsPort, .devicePort, .controlPort, .httpPort, .metricsPort, .legacyPort, .legacyFeedbackPort,
            .sharedPort,
        ]
        for (index, key) in ports.enumerated() where values.number(key) != 0 {
            if key == .httpPort, !values.flag(.development) { continue }
            for other in ports[..<index] where values.number(other) == values.number(key) {
                faults.append(
                    ConfigurationFault(
                        origin: values.origin(key),
                        what: "\(key.rawValue) is \(values.number(key)), as \(other.rawValue)",
                        right: "every listener has a port of its own"))
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
    }

    /// The names by which clients reach the control API: those of the setting, else the certificate's; and beside them
    /// loopback, the address that the listeners bind and the host of `media-url`.
    ///
    /// - Parameter ports: The ports of the control API's listeners, as far as they are known.
    package func names(ofCertificate certificate: [String], ports: [Int]) -> ServerNames {
        var names = values.text(.serverNames).map(ConfigurationType.serverNames) ?? certificate
        names += ["localhost", "127.0.0.1", "::1", host]
        if let media = values.text(.mediaURL).flatMap(URLComponents.init(string:)), let host = media.host {
            names.append(media.port.map { "\(host):\($0)" } ?? host)
        }
        return ServerNames(names, ports: ports)
    }

    /// Whether only this machine can reach a listener on that address.
    static func isLoopback(_ host: String) -> Bool { host == "::1" || host == "localhost" || host.hasPrefix("127.") }
}
