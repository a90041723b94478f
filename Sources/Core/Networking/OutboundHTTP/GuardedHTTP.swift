import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// Sends requests to public addresses, and to those that a list allows.
package actor GuardedHTTP {
    /// The client certificate and the trusted certificates of a request.
    package struct Identity: Hashable, Sendable {
        /// The id that distinguishes identities; only requests with the same one share connections.
        package var id: Int64
        /// Certificates in PEM that are trusted instead of the system's.
        package var authority: String?
        /// A client certificate with its chain, and its key, in PEM.
        package var certificate: String?

        /// Creates an instance from its properties.
        package init(id: Int64 = 0, authority: String? = nil, certificate: String? = nil) {
            self.id = id
            self.authority = authority
            self.certificate = certificate
        }
    }

    private struct Key: Hashable {
        var identity: Identity
        var isSecured: Bool
        var host: String
        var port: Int
    }

    private struct Entry {
        var client: HTTPClient
        var users: Int
        var madeAt: ContinuousClock.Instant
        var usedAt: ContinuousClock.Instant
    }

    private let allowed: [AddressRange]
    private let rule: AddressRule
    private let resolver: any HostResolver
    private var entries: [Key: Entry] = [:]
    private var isOver = false

    private static let mostHosts = 256
    private static let lifetime = Duration.seconds(600)
    private static let longestAnswer = 65_536

    /// Creates a client without connections.
    ///
    /// - Parameter allowed: Private addresses that may be connected to.
    package init(allowing allowed: [AddressRange], resolver: any HostResolver = SystemHostResolver()) {
        self.allowed = allowed
        self.resolver = resolver
        rule = AddressRule(allowing: allowed)
    }

    /// Sends a request and reads the whole response.
    ///
    /// - Throws: ``OutboundError``.
    package func send(
        _ request: OutboundRequest, as identity: Identity = Identity()
    ) async throws -> OutboundResponse {
        let key = try Self.key(request.url, identity)
        let client = try await take(key)
        defer { giveBack(key, client) }
        return try await Self.exchange(request, client)
    }

    /// Closes all connections; requests that are under way fail.
    package func shutDown() async {
        isOver = true
        let clients = entries.values.map(\.client)
        entries = [:]
        for client in clients { try? await client.shutdown() }
    }

    private static func key(_ url: String, _ identity: Identity) throws(OutboundError) -> Key {
        guard url.utf8.count <= 4096, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.host?.lowercased(), !host.isEmpty, parts.user == nil,
            parts.password == nil
        else { throw OutboundError("the address is not https://host/path", isForbidden: true) }
        // The client parses the URL again, and might look up another host than the one that is checked.
        let plain = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard let again = URL(string: url)?.host?.lowercased(), again == plain || again == host else {
            throw OutboundError("its address is read differently by different programs", isForbidden: true)
        }
        if let port = parts.port, !(1...65_535).contains(port) {
            throw OutboundError("the port is not 1 to 65535", isForbidden: true)
        }
        return Key(
            identity: identity, isSecured: scheme == "https", host: plain,
            port: parts.port ?? (scheme == "https" ? 443 : 80))
    }

    private func take(_ key: Key) async throws -> HTTPClient {
        if let client = use(key) { return client }
        let address = try await judged(key)
        // A concurrent request may have created one meanwhile.
        if let client = use(key) { return client }
        guard !isOver else { throw OutboundError("the server ends") }
        try makeRoom()
        let now = ContinuousClock.now
        let client = try client(key, address)
        entries[key] = Entry(client: client, users: 1, madeAt: now, usedAt: now)
        return client
    }

    /// An existing client, unless it must be replaced.
    private func use(_ key: Key) -> HTTPClient? {
        guard var entry = entries[key] else { return nil }
        let now = ContinuousClock.now
        if entry.users == 0, now - entry.madeAt > Self.lifetime {
            end(key)
            return nil
        }
        entry.users += 1
        entry.usedAt = now
        entries[key] = entry
        return entry.client
    }

    private func giveBack(_ key: Key, _ client: HTTPClient) {
        guard var entry = entries[key], entry.client === client else { return }
        entry.users -= 1
        entries[key] = entry
    }

    private func makeRoom() throws(OutboundError) {
        guard entries.count >= Self.mostHosts else { return }
        guard let oldest = entries.filter({ $0.value.users == 0 }).min(by: { $0.value.usedAt < $1.value.usedAt }) else {
            throw OutboundError("too many hosts are being asked")
        }
        end(oldest.key)
    }

    private func end(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        entry.client.shutdown { _ in }
    }

    /// The first of a host's addresses, if all of them are allowed.
    private func judged(_ key: Key) async throws -> SocketAddress {
        let found: [SocketAddress]
        do { found = try await resolver.addresses(of: key.host, port: key.port) } catch {
            throw OutboundError("its host has no address: \(error)")
        }
        guard let first = found.first else { throw OutboundError("its host has no address") }
        for address in found {
            if let words = rule.refusal(of: address) {
                throw OutboundError("its host has \(words); webhook-networks can allow it", isForbidden: true)
            }
        }
        guard key.isSecured || allowed.contains(where: { $0.contains(first) }) else {
            throw OutboundError(
                "http is for addresses that webhook-networks allows; https would be right", isForbidden: true)
        }
        return first
    }

    private func client(_ key: Key, _ address: SocketAddress) throws(OutboundError) -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        do {
            if let authority = key.identity.authority {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
            }
            if let certificate = key.identity.certificate {
                let bytes = Array(certificate.utf8)
                tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(bytes).map { .certificate($0) }
                tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: bytes, format: .pem))
            }
        } catch { throw OutboundError("its certificates cannot be read: \(error)", isForbidden: true) }
        var settings = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(5), read: .seconds(10)),
            decompression: .disabled)
        settings.dnsOverride = [key.host: address.ipAddress ?? ""]
        settings.httpVersion = .automatic
        settings.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    private static func exchange(_ request: OutboundRequest, _ client: HTTPClient) async throws -> OutboundResponse {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = .init(rawValue: request.method)
        for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
        if request.method != "GET" { outgoing.body = .bytes(request.body) }
        let exchanged = outgoing
        let timeout = request.timeout
        return try await withThrowingTaskGroup(of: OutboundResponse.self) { group in
            group.addTask {
                do {
                    let response = try await client.execute(
                        exchanged, timeout: .nanoseconds(Int64(clamping: timeout.components.seconds * 1_000_000_000)))
                    var headers: [String: String] = [:]
                    for (name, value) in response.headers where headers[name.lowercased()] == nil {
                        headers[name.lowercased()] = value
                    }
                    let body = try await response.body.collect(upTo: longestAnswer)
                    return OutboundResponse(
                        status: Int(response.status.code), headers: headers, body: Array(buffer: body))
                } catch let error as OutboundError {
                    throw error
                } catch {
                    throw OutboundError(ConnectionFault.words(error, host: URL(string: exchanged.url)?.host ?? "it"))
                }
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw OutboundError("it did not answer within \(timeout)")
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw OutboundError("there is no answer") }
            return answer
        }
    }
}
