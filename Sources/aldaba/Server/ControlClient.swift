import AldabaConfiguration
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Networking
import PushServer

/// Requests of commands to the control API.
package enum ControlClient {
    /// A client that trusts the given authority, or the system's.
    package static func make(authority: String?) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authority {
            let certificates = (try? NIOSSLCertificate.fromPEMFile(authority)) ?? []
            guard !certificates.isEmpty else {
                throw CommandError(
                    .invalidInput,
                    FileManager.default.isReadableFile(atPath: authority)
                        ? "\(authority) holds no certificate in PEM; the authority of the server's certificate would be right"
                        : "\(authority) cannot be read; the authority of the server's certificate would be right")
            }
            tls.trustRoots = .certificates(certificates)
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        // A failure is reported at once; a caller that wants to retry repeats the request.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a request, and returns its response's status and body, at most 1 MiB.
    package static func exchange(
        _ request: HTTPClientRequest, authority: String?, timeout: TimeAmount = .seconds(15)
    ) async throws -> (Int, Data) {
        let client = try make(authority: authority)
        do {
            let answer = try await exchange(request, with: client, timeout: timeout)
            try await client.shutdown()
            return answer
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Sends a request by a client that the caller keeps.
    package static func exchange(
        _ request: HTTPClientRequest, with client: HTTPClient, timeout: TimeAmount = .seconds(15)
    ) async throws -> (Int, Data) {
        var request = request
        // The audit log tells commands from other callers by it.
        request.headers.replaceOrAdd(name: "user-agent", value: AuditOrigin.commandAgent)
        do {
            let response = try await client.execute(request, timeout: timeout)
            let body = try await response.body.collect(upTo: 1 << 20)
            return (Int(response.status.code), Data(body.readableBytesView))
        } catch {
            throw failure(error, request)
        }
    }

    /// The failure that an error of a request means, in a sentence that names the server.
    package static func failure(_ error: any Error, _ request: HTTPClientRequest) -> CommandError {
        let url = URL(string: request.url)
        let host = url?.host ?? request.url
        let place = url.map { "\(ServerAddresses.authority(host, $0.port ?? ($0.scheme == "http" ? 80 : 443)))" }
        return CommandError(
            .unreachable, "\(place ?? request.url) cannot be asked: \(ConnectionFault.commandWords(error, host: host))")
    }

    /// The sentence of an error's answer, after the place of the fault where the answer names one.
    package static func message(_ body: Data) -> String {
        struct Problem: Decodable {
            var detail: String
            var pointer: String?
        }
        guard let problem = try? JSONDecoder().decode(Problem.self, from: body) else { return "no reason given" }
        return problem.pointer.map { "\($0): \(problem.detail)" } ?? problem.detail
    }
}
