import Foundation
import NIOCore
import Platform
import Synchronization

/// Resolves host names; a port, since the addresses are checked before connecting.
package protocol HostResolver: Sendable {
    /// The addresses of a host, the best first.
    ///
    /// - Throws: ``HostUnknown``, or `CancellationError` as soon as the task is cancelled.
    func addresses(of host: String, port: Int) async throws -> [SocketAddress]
}

/// The reason why a host has no address.
package struct HostUnknown: Error, Hashable, CustomStringConvertible {
    /// The resolver's own description.
    package let description: String

    /// Creates the error with a description.
    package init(_ description: String) { self.description = description }
}

/// Resolves names through the system, from its files and its name servers. A few look-ups run at a time; each has a
/// thread of its own, since the system's call blocks.
package struct SystemHostResolver: HostResolver {
    private let threads = BoundedThreads("aldaba-names", limit: 8)

    /// Creates a resolver without look-ups.
    package init() {}

    /// The addresses of the host according to the C library; an IP address resolves to itself.
    package func addresses(of host: String, port: Int) async throws -> [SocketAddress] {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return [address] }
        let answer = SingleAnswer()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard answer.wait(continuation) else { return }
                let isBegun = threads.begin({ Self.ask(host, port) }, then: { answer.give($0) })
                if !isBegun { answer.give(.failure(HostUnknown("too many names are being looked up"))) }
            }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }

    /// Runs the system's blocking look-up.
    private static func ask(_ host: String, _ port: Int) -> Result<[SocketAddress], any Error> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { return .failure(HostUnknown(String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next {
            defer { next = entry.pointee.ai_next }
            guard let name = numeric(entry.pointee), let address = try? SocketAddress(ipAddress: name, port: port)
            else { continue }
            found.append(address)
        }
        return .success(found)
    }

    private static func numeric(_ entry: addrinfo) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The result of a look-up: the first one is used, a later one is dropped.
private final class SingleAnswer: Sendable {
    typealias Waiter = CheckedContinuation<[SocketAddress], any Error>

    private enum State {
        case asked
        case waiting(Waiter)
        case answered(Result<[SocketAddress], any Error>?)
    }

    private let state = Mutex(State.asked)

    /// - Returns: Whether the look-up must be started: it has no result yet.
    func wait(_ waiter: Waiter) -> Bool {
        let answer: Result<[SocketAddress], any Error>? = state.withLock { state in
            if case .answered(let answer) = state { return answer }
            state = .waiting(waiter)
            return nil
        }
        if let answer { waiter.resume(with: answer) }
        return answer == nil
    }

    func give(_ answer: Result<[SocketAddress], any Error>) {
        let waiter: Waiter? = state.withLock { state in
            switch state {
            case .asked:
                state = .answered(answer)
                return nil
            case .waiting(let waiter):
                state = .answered(nil)
                return waiter
            case .answered: return nil
            }
        }
        waiter?.resume(with: answer)
    }
}
