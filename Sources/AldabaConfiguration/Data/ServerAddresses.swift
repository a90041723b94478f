import Foundation

/// The addresses at which a running server listens. It writes them into its data folder, where commands find them.
package struct ServerAddresses: Codable, Sendable, Equatable {
    /// The process id of the server.
    package var process: Int32
    /// The host that clients should name; the certificate has it. An IPv6 address is written without brackets.
    package var host: String
    /// The port of the APNs provider API.
    package var apnsPort: Int
    /// The port of the device channel.
    package var devicePort: Int
    /// The port of the control API over TLS.
    package var controlPort: Int
    /// The port of plain http on loopback; `nil` without development mode.
    package var httpPort: Int?
    /// The port of metrics and health.
    package var metricsPort: Int
    /// The host of metrics and health; `nil` for loopback.
    package var metricsHost: String?
    /// The port of the old binary interface; `nil` where it is not served.
    package var legacyPort: Int?
    /// The port of its feedback service; `nil` where it is not served.
    package var legacyFeedbackPort: Int?
    /// The port for clients that find the server under Apple's and Google's names; `nil` where it is not served.
    package var sharedPort: Int?
    /// `sandbox` or `production`.
    package var environment: String

    /// Makes the addresses of one server from its bound ports.
    package init(
        process: Int32, host: String, apnsPort: Int, devicePort: Int, controlPort: Int, httpPort: Int?,
        metricsPort: Int, legacyPort: Int? = nil, legacyFeedbackPort: Int? = nil, sharedPort: Int? = nil,
        environment: String
    ) {
        self.process = process
        self.host = host
        self.apnsPort = apnsPort
        self.devicePort = devicePort
        self.controlPort = controlPort
        self.httpPort = httpPort
        self.metricsPort = metricsPort
        self.legacyPort = legacyPort
        self.legacyFeedbackPort = legacyFeedbackPort
        self.sharedPort = sharedPort
        self.environment = environment
    }

    /// The provider API's address.
    package var apns: String { "https://\(Self.authority(host, apnsPort))" }
    /// The device channel's address.
    package var device: String { Self.authority(host, devicePort) }
    /// The control API's address over TLS.
    package var control: String { "https://\(Self.authority(host, controlPort))" }
    /// The control API's plain address on loopback, in development mode.
    package var http: String? { httpPort.map { "http://127.0.0.1:\($0)" } }
    /// The address of the old binary interface; `nil` where it is not served.
    package var legacy: String? { legacyPort.map { Self.authority(host, $0) } }
    /// The address of its feedback service; `nil` where it is not served.
    package var legacyFeedback: String? { legacyFeedbackPort.map { Self.authority(host, $0) } }
    /// The address of metrics and health, on loopback unless another was chosen.
    package var metrics: String { "http://\(Self.authority(metricsHost ?? "127.0.0.1", metricsPort))" }

    /// `host:port` as a URL takes it: an IPv6 address in brackets (RFC 3986, section 3.2.2).
    package static func authority(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Reads `host:port`, the host without brackets; `nil` for anything else, and for port 0.
    package static func parts(ofAuthority text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        return host.isEmpty ? nil : (String(host), port)
    }

    /// The addresses as one line of JSON: the ports, and URLs for programs that read them.
    package func line() throws -> String { try JSONLine.of(Line(addresses: self)) }

    /// The properties, and the addresses that are made of them.
    private struct Line: Encodable {
        var addresses: ServerAddresses

        private enum Key: String, CodingKey { case apns, control, http, device, metrics, legacy, legacyFeedback }

        func encode(to encoder: any Encoder) throws {
            try addresses.encode(to: encoder)
            var members = encoder.container(keyedBy: Key.self)
            let urls: [(Key, String?)] = [
                (.apns, addresses.apns), (.control, addresses.control), (.http, addresses.http),
                (.device, addresses.device), (.metrics, addresses.metrics), (.legacy, addresses.legacy),
                (.legacyFeedback, addresses.legacyFeedback),
            ]
            for (key, url) in urls { try members.encodeIfPresent(url, forKey: key) }
        }
    }

    /// Reads the line; `nil` when it is not one.
    package init?(line: String) {
        guard let value = JSONLine.read(line, as: ServerAddresses.self) else { return nil }
        self = value
    }

    /// The addresses that the server of a data folder left there; `nil` when none did.
    package static func read(_ folder: DataFolder) throws(PrivateFile.Failure) -> ServerAddresses? {
        try PrivateFile.text(folder.addresses).flatMap { ServerAddresses(line: $0) }
    }

    /// Leaves the addresses in a data folder.
    package func write(_ folder: DataFolder) throws {
        try PrivateFile.write(Array((try line() + "\n").utf8), to: folder.addresses)
    }
}
