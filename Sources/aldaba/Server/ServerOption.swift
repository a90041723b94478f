import AldabaConfiguration
import ArgumentParser
import AsyncHTTPClient
import Foundation

/// The options that select the server that a command asks.
package struct ServerOption: ParsableArguments {
    /// The server's control API, host and port.
    @Option(help: "The server's control API, host:port; without it the server that runs on the data folder.")
    package var server: String?
    /// The path of the authority of its certificate.
    @Option(help: "The authority of the server's certificate, PEM; else the data folder's, else the system's.")
    package var ca: String?
    /// The data folder with the server's addresses, its authority and the keys.
    @OptionGroup package var location: FolderOption

    /// Made by the parser, which fills it in.
    package init() {}

    /// The server's host and port; `nil` where none was named.
    package func named() throws -> (host: String, port: Int)? {
        guard let server else { return nil }
        let text = server.hasPrefix("https://") ? String(server.dropFirst("https://".count)) : server
        guard let parts = ServerAddresses.parts(ofAuthority: text) else {
            throw CommandError(.invalidInput, "--server: \"\(server)\" is not host:port")
        }
        return parts
    }

    /// The control API's address over TLS.
    package func control() throws -> String {
        if let named = try named() { return "https://\(ServerAddresses.authority(named.host, named.port))" }
        return try location.addresses().control
    }

    /// The authority that signs the server's certificate; `nil` for those of the system.
    package var authority: String? { ca ?? location.authority }

    /// A request of the control API, with a provider token where the server wants one.
    ///
    /// - Parameter path: The path that follows the address, from `/v1/` on.
    package func request(_ path: String, signing: SigningOptions) throws -> HTTPClientRequest {
        if server == nil, ca == nil, let plain = try location.addresses().http {
            return HTTPClientRequest(url: plain + path)
        }
        var request = HTTPClientRequest(url: try control() + path)
        request.headers.add(name: "authorization", value: "bearer \(try signing.token(location))")
        return request
    }

    /// The failure that a response other than 200 means.
    package static func failure(_ status: Int, _ body: Data) -> CommandError {
        let message = ControlClient.message(body)
        return switch status {
        case 400: CommandError(.invalidInput, message)
        case 401, 403: CommandError(.notAuthorized, "the server does not allow this: \(message)")
        case 404: CommandError(.failed, "not found: \(message)")
        default: CommandError(.failed, "the server answered \(status): \(message)")
        }
    }
}
