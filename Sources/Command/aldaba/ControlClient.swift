import AsyncHTTPClient
import CommandCore
import Foundation
import NIOCore
import NIOSSL

/// Requests of commands to the control API.
enum ControlClient {
    /// A client that trusts the given authority, or the system's.
    static func make(authority: String?) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authority { tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority)) }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// One request and its answer's status and body, at most 1 MiB.
    static func exchange(_ request: HTTPClientRequest, authority: String?) async throws -> (Int, Data) {
        let client = try make(authority: authority)
        do {
            let answer = try await exchange(request, with: client)
            try await client.shutdown()
            return answer
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    static func exchange(_ request: HTTPClientRequest, with client: HTTPClient) async throws -> (Int, Data) {
        do {
            let response = try await client.execute(request, timeout: .seconds(15))
            let body = try await response.body.collect(upTo: 1 << 20)
            return (Int(response.status.code), Data(body.readableBytesView))
        } catch {
            throw CommandFailure(.unreachable, "\(request.url) does not answer: \(error); does the server run?")
        }
    }
}
