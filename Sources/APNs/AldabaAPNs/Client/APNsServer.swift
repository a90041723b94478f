import NIOSSL

/// The server that a client sends to.
public struct APNsServer: Hashable, Sendable {
    /// The host's name or address.
    public var host: String
    /// The port.
    public var port: Int
    /// The authorities that may have signed the server's certificate, in PEM; `nil` for those of the system.
    public var authorities: String?

    /// Creates a server, such as an Aldaba gateway.
    public init(host: String, port: Int, authorities: String? = nil) {
        self.host = host
        self.port = port
        self.authorities = authorities
    }

    /// APNs for apps from the App Store and TestFlight. Port 2197 is an alternative to 443.
    public static func production(port: Int = 443) -> APNsServer { APNsServer(host: "api.push.apple.com", port: port) }

    /// APNs for apps that Xcode installed. Port 2197 is an alternative to 443.
    public static func development(port: Int = 443) -> APNsServer {
        APNsServer(host: "api.sandbox.push.apple.com", port: port)
    }

    /// APNs for apps from the App Store and TestFlight.
    public static let production = APNsServer.production()
    /// APNs for apps that Xcode installed.
    public static let development = APNsServer.development()
    /// Apple's server of broadcast channels for apps from the App Store and TestFlight.
    public static let productionChannels = APNsServer(host: "api-manage-broadcast.push.apple.com", port: 2196)
    /// Apple's server of broadcast channels for apps that Xcode installed.
    public static let developmentChannels = APNsServer(
        host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)

    /// The value of `:authority`.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    /// Whether the authorities, if there are any, are certificates in PEM.
    package var hasReadableAuthorities: Bool { (try? trustRoots) != nil }

    var trustRoots: NIOSSLTrustRoots {
        get throws(APNsCredential.Fault) {
            guard let authorities else { return .default }
            do { return .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authorities.utf8))) } catch {
                throw APNsCredential.Fault(description: "the authorities are no certificates in PEM")
            }
        }
    }
}
