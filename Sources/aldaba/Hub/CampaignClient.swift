import AldabaConfiguration
import AsyncHTTPClient
import Foundation
import PushCore

/// Requests of commands for the campaigns of a hub, by the hub's own API.
struct CampaignClient {
    var hub: String
    var server: ServerOption
    var signing: SigningOptions

    /// The path of a hub's campaigns, and what follows it.
    func path(_ rest: String) -> String { "/v1/hubs/\(Self.escaped(hub))/campaigns\(rest)" }

    /// A name as one component of a path.
    static func escaped(_ name: String) -> String {
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_."))
        return name.addingPercentEncoding(withAllowedCharacters: plain) ?? name
    }

    /// Reads what stands under a path.
    func get(_ rest: String) async throws -> JSONValue {
        try await answer(to: try server.request(path(rest), signing: signing))
    }

    /// Sends a document, or asks for a change without one.
    func post(_ rest: String, _ document: JSONValue?, idempotencyKey: String? = nil) async throws -> JSONValue {
        var request = try server.request(path(rest), signing: signing)
        request.method = .POST
        if let document {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(document.bytes)
        }
        if let idempotencyKey { request.headers.add(name: "idempotency-key", value: idempotencyKey) }
        return try await answer(to: request)
    }

    private func answer(to request: HTTPClientRequest) async throws -> JSONValue {
        // A withdrawal of a large campaign takes long.
        let (status, body) = try await ControlClient.exchange(
            request, authority: server.authority, timeout: .minutes(5))
        guard (200..<300).contains(status) else { throw ServerOption.failure(status, body) }
        do { return try JSONValue(body) } catch {
            throw CommandError(.failed, "the server's answer cannot be read: \(error)")
        }
    }

    /// The document with the addresses of the pictures and movies that it names as files, which are uploaded.
    ///
    /// Whatever has a scheme is an address, and is left for the server to check.
    func uploading(_ document: JSONValue) async throws -> JSONValue {
        var document = document
        if let content = document["content"] { document.set("content", try await uploading(content: content)) }
        guard var experiment = document["experiment"], var variants = experiment["variants"]?.items else {
            return document
        }
        for place in variants.indices {
            guard let content = variants[place]["content"] else { continue }
            variants[place].set("content", try await uploading(content: content))
        }
        experiment.set("variants", .array(variants))
        document.set("experiment", experiment)
        return document
    }

    private func uploading(content: JSONValue) async throws -> JSONValue {
        var content = content
        for name in ["image", "video"] {
            guard let file = content[name]?.text, !file.contains("://") else { continue }
            let media = MediaClient(
                control: try server.control(), authority: server.authority, token: try signing.token(server.location))
            content.set(name, .string(try await media.upload(file).url))
        }
        return content
    }
}

extension JSONValue {
    /// A member's value for a terminal: a text as it is, everything else as JSON; empty where it is missing.
    func words(_ name: String) -> String { self[name].map { $0.text ?? $0.json } ?? "" }
}
