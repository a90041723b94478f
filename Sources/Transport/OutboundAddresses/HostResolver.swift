import Foundation
import Machine
import NIOCore
import Synchronization

/// Tells the addresses of hosts; a port of fetching, since what is connected to is checked first.
package protocol HostResolver: Sendable {
    /// The addresses of a host, the best first.
    ///
    /// - Throws: ``HostUnknown``, or `CancellationError` as soon as the task is cancelled.
    func addresses(of host: String, port: Int) async throws -> [SocketAddress]
}

/// Why a host has no address.
package struct HostUnknown: Error, Hashable, CustomStringConvertible {
    /// In the words of who was asked.
    package let description: String

    /// With these words.
    package init(_ description: String) { self.description = description }
}

/// Asks the system, which asks its files and its name servers. A few questions at a time; each has a thread of its own, since the
/// system answers in its own time.
package struct SystemHostResolver: HostResolver {
    private let threads = BoundedThreads("aldaba-names", limit: 8)

    /// Asks nothing yet.
    package init() {}

    /// What the C library knows of the host; an address is its own.
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

    /// Waits for the system's answer.
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

/// The first answer to a question counts; a later one is dropped.
private final class SingleAnswer: Sendable {
    typealias Waiter = CheckedContinuation<[SocketAddress], any Error>

    private enum State {
        case asked
        case waiting(Waiter)
        case answered(Result<[SocketAddress], any Error>?)
    }

    private let state = Mutex(State.asked)

    /// - Returns: Whether the question is to be asked: it has no answer yet.
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
