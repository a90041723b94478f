import AldabaConfiguration
import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import PushCore

/// The option that selects the development server that a test asks.
struct TestServerOption: ParsableArguments {
    @Option(help: "The server's plain http address; without it ALDABA_HTTP, else the server on the data folder.")
    var http: String?
    @OptionGroup var location: FolderOption

    /// The address, such as `http://127.0.0.1:8080`.
    func address() throws -> String {
        if let named = http ?? ProcessInfo.processInfo.environment["ALDABA_HTTP"] {
            return named.hasSuffix("/") ? String(named.dropLast()) : named
        }
        guard let address = try location.addresses().http else {
            throw CommandError(
                .failed,
                "this command is for development servers: those of `aldaba up`, `aldaba run` and "
                    + "`aldaba serve --development`; the server on the data folder is none")
        }
        return address
    }

    /// Asks the server.
    ///
    /// - Returns: The JSON of its answer; `nil` for an empty one.
    @discardableResult
    func ask(
        _ method: String, _ path: String, body: JSONValue? = nil, timeout: TimeAmount = .seconds(15)
    ) async throws -> JSONValue? {
        var request = HTTPClientRequest(url: try address() + path)
        request.method = .init(rawValue: method)
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(body.bytes)
        }
        let (status, answer) = try await ControlClient.exchange(request, authority: nil, timeout: timeout)
        guard (200..<300).contains(status) else { throw ServerOption.failure(status, answer) }
        guard !answer.isEmpty else { return nil }
        do { return try JSONValue(answer) } catch {
            throw CommandError(.failed, "the server's answer cannot be read: \(error)")
        }
    }
}
