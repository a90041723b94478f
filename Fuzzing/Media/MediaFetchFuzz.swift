import AgentProtocol
import AgentRuntime
import Foundation
import NIOCore

/// What hosts and senders say: the first line is an address, the second a redirect, the rest a file. None may trap. An address
/// that is read has one spelling, and what is taken stays within its kind's size.
enum MediaFetchFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        let parts = bytes.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
        let text = String(decoding: parts[0], as: UTF8.self)
        let location = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
        MediaFetchFuzz.check(text, location)
        MediaFetchFuzz.fetch(text, condition: location, arguments: parts.count > 2 ? parts[2] : [])
    }

    private static func check(_ text: String, _ location: String) {
        guard let url = try? MediaURL(text) else { return }
        precondition((try? MediaURL(url.description)) == url, "an address has two spellings")
        precondition(url.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") }, "a host's letter")
        precondition(url.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a letter that ends the line")
        guard let next = try? url.redirected(to: location) else { return }
        precondition((try? MediaURL(next.description)) == next || next.description.utf8.count > MediaURL.lengthLimit)
    }

    private static func fetch(_ text: String, condition location: String, arguments body: ArraySlice<UInt8>) {
        guard var fetch = try? MediaFetch(MediaRequest(url: text), rules: .init()),
            let address = try? SocketAddress(ipAddress: "93.184.216.34", port: 443)
        else { return }
        _ = fetch.begin()
        _ = fetch.handle(.resolved([address]))
        if case .resolve = fetch.handle(.responded(MediaResponse(status: 302, location: location))) {
            _ = fetch.handle(.resolved([address]))
        }
        var directive = fetch.handle(.responded(MediaResponse(status: 200, contentType: location)))
        var rest = body
        while directive == .receive, !rest.isEmpty {
            directive = fetch.handle(.received(rest.prefix(7)))
            rest = rest.dropFirst(7)
        }
        if directive == .receive { directive = fetch.handle(.ended) }
        if case .finish(let kind, _, _) = directive {
            precondition(body.count <= kind.limit, "too large")
        }
    }
}
