import AgentEngine
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Networking

/// A request to one address, and its response. It has an HTTP client of its own, which is given the address and makes
/// no DNS query. Over TLS the certificate must have the host's name.
struct MediaExchange {
    private let client: HTTPClient
    private let url: MediaURL
    private var body: HTTPClientResponse.Body.AsyncIterator?

    private static let connectTimeout = TimeAmount.seconds(5)

    init(_ url: MediaURL, address: SocketAddress, tls: TLSConfiguration) {
        var settings = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: Self.connectTimeout), decompression: .disabled)
        settings.dnsOverride = [url.host: address.ipAddress ?? ""]
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        self.url = url
    }

    /// Sends the request.
    ///
    /// - Returns: ``MediaFetch/Event/responded(_:)`` or ``MediaFetch/Event/unconnected(_:)``.
    mutating func begin(_ validator: MediaValidator?) async -> MediaFetch.Event {
        // The client reads the address again; another host than the one that was checked would be looked up.
        guard URL(string: url.description)?.host == url.host || url.host.contains(":") else {
            return .unconnected("its address is read differently by different programs")
        }
        var request = HTTPClientRequest(url: url.description)
        request.headers.add(name: "accept", value: "image/*, audio/*, video/*")
        request.headers.add(name: "accept-encoding", value: "identity")
        request.headers.add(name: "user-agent", value: "aldaba")
        if let tag = validator?.entityTag { request.headers.add(name: "if-none-match", value: tag) }
        if let date = validator?.lastModified { request.headers.add(name: "if-modified-since", value: date) }
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            body = response.body.makeAsyncIterator()
            return .responded(Self.read(response))
        } catch {
            return .unconnected(ConnectionFault.words(error, host: url.host))
        }
    }

    /// - Returns: ``MediaFetch/Event/received(_:)``, ``MediaFetch/Event/ended`` or ``MediaFetch/Event/broken(_:)``.
    mutating func next() async -> MediaFetch.Event {
        do {
            guard let bytes = try await body?.next() else { return .ended }
            return .received(ArraySlice(bytes.readableBytesView))
        } catch {
            return .broken(ConnectionFault.words(error, host: url.host))
        }
    }

    /// Ends the connection; must be called.
    mutating func close() async {
        body = nil
        try? await client.shutdown()
    }

    private static func read(_ response: HTTPClientResponse) -> MediaResponse {
        let headers = response.headers
        let keeps = !headers[canonicalForm: "cache-control"].contains { $0.lowercased() == "no-store" }
        return MediaResponse(
            status: Int(response.status.code), location: headers.first(name: "location"),
            contentType: headers.first(name: "content-type"),
            length: headers.first(name: "content-length").flatMap { Int64($0) },
            coding: headers.first(name: "content-encoding"),
            validator: keeps
                ? MediaValidator(
                    entityTag: headers.first(name: "etag"), lastModified: headers.first(name: "last-modified"))
                : nil)
    }
}
