import AgentEngine
import AgentProtocol
import NIOCore
import Networking

/// The fetching of a file: the address, the redirects, and the number of bytes. Events in, one directive out.
///
/// Guarantees: no address is connected to that ``AddressRule`` refuses, whatever redirect names it. At most
/// ``redirectLimit`` redirects are followed. No more bytes are requested than a file of its kind may have.
package struct MediaFetch: Sendable {
    /// How many redirects are followed.
    package static let redirectLimit = 5
    /// How many of a host's addresses are tried.
    package static let addressLimit = 3

    /// The limits on the files that may be fetched.
    package struct Rules: Hashable, Sendable {
        /// The addresses that may be connected to.
        package var addresses: AddressRule
        /// Whether `http` may be asked, too.
        package var allowsHTTP: Bool
        /// The control API of the device's own server; `nil` without a server. Its media may be at any address.
        package var ownServer: MediaURL?

        /// Public addresses by `https`, by default.
        package init(addresses: AddressRule = AddressRule(), allowsHTTP: Bool = false, ownServer: MediaURL? = nil) {
            self.addresses = addresses
            self.allowsHTTP = allowsHTTP
            self.ownServer = ownServer
        }

        /// Whether a URL names a file that the device's own server stores: its origin over TLS, and `/media/`.
        func isOwnMedia(_ url: MediaURL) -> Bool {
            guard let ownServer, ownServer.isSecure else { return false }
            return url.origin == ownServer.origin && url.target.hasPrefix("/media/")
        }
    }

    /// An event of a fetch.
    package enum Event: Sendable {
        /// The addresses of the host.
        case resolved([SocketAddress])
        /// The host has no address, and why.
        case unresolved(String)
        /// The address takes no connection, and why.
        case unconnected(String)
        /// The host answers.
        case responded(MediaResponse)
        /// More of the file: its bytes as they came.
        case received(ArraySlice<UInt8>)
        /// The file is whole.
        case ended
        /// The connection ended before the file did, and why.
        case broken(String)
        /// The time is up.
        case timedOut
    }

    /// An action for the caller.
    package enum Directive: Hashable, Sendable {
        /// Ask for the addresses of a host.
        case resolve(host: String, port: Int)
        /// Ask this address, and no other, for the file; with a validator, whether it is another by now.
        case request(MediaURL, address: SocketAddress, MediaValidator?)
        /// Take the next bytes, and keep those that came.
        case receive
        /// The file is whole, and what it is. It may be kept under the validator, which is of the address that
        /// answered.
        case finish(FetchedMediaKind, MediaValidator?, from: MediaURL)
        /// The file that is kept is the one.
        case finishKept
        /// The fetch has failed.
        case fail(MediaFailure)
    }

    /// The cached result of an earlier fetch.
    package struct Kept: Hashable, Sendable {
        /// The address that answered then.
        package var source: String
        /// The validator for a conditional request.
        package var validator: MediaValidator

        /// Creates the record of a cached file.
        package init(source: String, validator: MediaValidator) {
            self.source = source
            self.validator = validator
        }
    }

    private let rules: Rules
    private let kept: Kept?
    private let typeHint: String?
    private var url: MediaURL
    private var redirects = 0
    /// Addresses of the host that were not tried yet.
    private var addresses: ArraySlice<SocketAddress> = []
    private var response: MediaResponse?
    private var head: [UInt8] = []
    private var count: Int64 = 0
    private var kind: FetchedMediaKind?

    /// The fetching of one file, before it begins.
    ///
    /// - Throws: ``MediaFailure`` where the address cannot be fetched at all.
    package init(_ request: MediaRequest, rules: Rules, kept: Kept? = nil) throws(MediaFailure) {
        self.rules = rules
        self.kept = kept
        typeHint = request.typeHint
        url = try MediaURL(request.url)
    }

    /// Whether the file that is requested now is one of the device's own server, whose certificate is verified as that
    /// of the connection to the server is.
    package var isOwnMedia: Bool { rules.isOwnMedia(url) }

    /// The first thing to do.
    package mutating func begin() -> Directive { enter(url) }

    /// The next directive, after an event.
    package mutating func handle(_ event: Event) -> Directive {
        switch event {
        case .resolved(let found): return choose(found)
        case .unresolved(let why): return fail(.unknownHost, "\(url.host) has no address: \(why)")
        case .unconnected(let why):
            return addresses.isEmpty ? fail(.unreachable, "no file came from \(url.origin): \(why)") : requestNext()
        case .responded(let response): return respond(response)
        case .received(let bytes): return receive(bytes)
        case .ended: return end()
        case .broken(let why): return fail(.unreachable, "\(url.origin) ended the connection: \(why)")
        case .timedOut: return fail(.tooSlow, "\(url.origin) took too long, after \(count) bytes")
        }
    }

    private mutating func enter(_ next: MediaURL) -> Directive {
        url = next
        guard url.isSecure || rules.allowsHTTP else {
            return fail(.notSecure, "\(url.origin) is not https; the app's manifest can allow it with allowsHTTP")
        }
        return .resolve(host: url.host, port: url.port)
    }

    private mutating func choose(_ found: [SocketAddress]) -> Directive {
        var refused: String?
        addresses = []
        for address in found where addresses.count < Self.addressLimit {
            if !isOwnMedia, let words = rules.addresses.refusal(of: address) {
                refused = "\(address.ipAddress ?? "an address"), \(words)"
            } else {
                addresses.append(address)
            }
        }
        if !addresses.isEmpty { return requestNext() }
        guard let refused else { return fail(.unknownHost, "\(url.host) has no address") }
        return fail(.refusedAddress, "\(url.host) is \(refused), from which nothing is fetched")
    }

    private mutating func requestNext() -> Directive {
        guard let address = addresses.popFirst() else { return fail(.unreachable, "\(url.origin) has no address left") }
        return .request(url, address: address, kept?.source == url.description ? kept?.validator : nil)
    }

    private mutating func respond(_ response: MediaResponse) -> Directive {
        self.response = response
        switch response.status {
        case 200: break
        case 304 where kept?.source == url.description: return .finishKept
        case 301, 302, 303, 307, 308:
            guard let location = response.location else { fallthrough }
            return follow(location)
        default:
            return .fail(
                MediaFailure(
                    .notFound, status: response.status, "\(url.origin) answered \(response.status) and not with a file")
            )
        }
        if let coding = response.coding?.lowercased(), !coding.isEmpty, coding != "identity" {
            return fail(
                .notMedia, "\(url.origin) sends the file packed (\(coding.prefix(32))), which was not asked for")
        }
        if let length = response.length, length > FetchedMediaKind.greatestLimit {
            return tooLarge("\(length) bytes", FetchedMediaKind.greatestLimit)
        }
        return .receive
    }

    private mutating func follow(_ location: String) -> Directive {
        redirects += 1
        guard redirects <= Self.redirectLimit else {
            return fail(.tooManyRedirects, "more than \(Self.redirectLimit) redirects, the last from \(url.origin)")
        }
        do {
            return enter(try url.redirected(to: location))
        } catch {
            return .fail(error)
        }
    }

    private mutating func receive(_ bytes: ArraySlice<UInt8>) -> Directive {
        count += Int64(bytes.count)
        if kind == nil {
            head += bytes.prefix(FetchedMediaKind.headLength - head.count)
            if head.count == FetchedMediaKind.headLength, let failure = recognize() { return failure }
        }
        let limit = kind?.limit ?? FetchedMediaKind.greatestLimit
        if count > limit { return tooLarge("more than \(limit) bytes", limit) }
        return .receive
    }

    private mutating func end() -> Directive {
        if kind == nil, let failure = recognize() { return failure }
        guard let kind else { return fail(.notMedia, "\(url.origin) sent nothing") }
        if let length = response?.length, length != count {
            return fail(.unreachable, "\(url.origin) sent \(count) of \(length) bytes")
        }
        return .finish(kind, response?.validator, from: url)
    }

    /// Settles what the file is by its first bytes.
    ///
    /// - Returns: Why it cannot be shown, where it cannot.
    private mutating func recognize() -> Directive? {
        let declaredTypes = [response?.contentType, url.fileExtension, typeHint].compactMap { $0 }
        kind = FetchedMediaKind(head: head, declared: declaredTypes)
        guard let kind else {
            let type = response?.contentType.map { ", which it calls \($0.prefix(64))," } ?? ""
            return fail(.notMedia, "what \(url.origin) sent\(type) is no picture, sound or movie that can be attached")
        }
        if let length = response?.length, length > kind.limit { return tooLarge("\(length) bytes", kind.limit) }
        return nil
    }

    private func tooLarge(_ size: String, _ limit: Int64) -> Directive {
        fail(.tooLarge, "\(url.origin) sends \(size); of this kind at most \(limit) can be attached")
    }

    private func fail(_ reason: MediaFailure.Reason, _ message: String) -> Directive {
        .fail(MediaFailure(reason, message))
    }
}
