import AgentEngine
import CLinux
import Foundation
import Platform
import Synchronization

/// Reports when this machine can reach a network again; a port, so that tests need no network.
package protocol NetworkSource: Sendable {
    /// Starts reporting; `returned` is called on any thread, and must not block.
    func start(returned: @escaping @Sendable () -> Void)
    /// Ends the source's thread; nothing is reported any more.
    func stop()
}

/// A source of network changes: the kernel's events for links, addresses and routes (rtnetlink(7)).
///
/// Bounded: one thread, which sleeps until the kernel sends an event.
package final class KernelNetwork: NetworkSource {
    /// Ends the thread.
    private let end = Mutex<WakeUp?>(nil)

    /// Listens to nothing yet.
    package init() {}

    /// Listens on a thread of its own; a system that gives no socket for that is not listened to.
    package func start(returned: @escaping @Sendable () -> Void) {
        guard let news = try? Descriptor(aldaba_network_open(), "network"), let end = try? WakeUp() else { return }
        self.end.withLock { $0 = end }
        NamedThread.begin("aldaba-network", stackSize: 256 << 10) { Self.follow(news, until: end, returned) }
    }

    /// Ends the thread; one that was not started has nothing to end.
    package func stop() {
        end.withLock { end in
            end?.signal()
            end = nil
        }
    }

    private static func follow(_ news: Descriptor, until end: WakeUp, _ returned: @Sendable () -> Void) {
        var links = NetworkEventReader()
        var buffer = [UInt8](repeating: 0, count: 32 << 10)
        while true {
            var watched = [news.number, end.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard Pause.poll(&watched, until: nil), !end.isSignalled else { return }
            guard watched[0].revents != 0 else { continue }
            let count = read(news.number, &buffer, buffer.count)
            // The events that were lost may have included a return.
            let isLost = count < 0 && errno == ENOBUFS
            guard count > 0 || isLost || errno == EINTR || errno == EAGAIN else { return }
            if isLost || count > 0 && links.indicatesNetworkReturn(buffer[..<count]) { returned() }
        }
    }
}

/// Reads the kernel's network events: a value.
struct NetworkEventReader: Sendable {
    /// The links that carry, by their numbers.
    private var carrying: Set<Int32> = []

    private enum Kind {
        static let newLink: UInt16 = 16
        static let goneLink: UInt16 = 17
        static let newAddress: UInt16 = 20
        static let newRoute: UInt16 = 24
    }

    /// `RT_SCOPE_LINK`: from there on a scope leads to no other network.
    private static let linkScope: UInt8 = 253
    /// `IFF_LOWER_UP`.
    private static let carries: UInt32 = 1 << 16
    /// `IFF_LOOPBACK`.
    private static let loopback: UInt32 = 1 << 3

    /// Whether the events include a new route to the network: an address, a route, or a link that has a carrier again.
    mutating func indicatesNetworkReturn(_ news: some Collection<UInt8>) -> Bool {
        let bytes = Array(news)
        var isReturn = false
        bytes.withUnsafeBytes { bytes in
            var place = 0
            // `struct nlmsghdr`: length and type, 32 and 16 bits, and ten bytes more.
            while place + 16 <= bytes.count {
                let length = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                let kind = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt16.self)
                guard length >= 16, length <= bytes.count - place else { return }
                let body = UnsafeRawBufferPointer(rebasing: bytes[(place + 16)..<(place + length)])
                if indicatesNetworkReturn(kind, body) { isReturn = true }
                place += (length + 3) & ~3
            }
        }
        return isReturn
    }

    private mutating func indicatesNetworkReturn(_ kind: UInt16, _ body: UnsafeRawBufferPointer) -> Bool {
        switch kind {
        // `struct ifinfomsg`: family, kind, number and flags, 16, 16, 32 and 32 bits.
        case Kind.newLink where body.count >= 12:
            let link = body.loadUnaligned(fromByteOffset: 4, as: Int32.self)
            let flags = body.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
            guard flags & Self.carries != 0, flags & Self.loopback == 0 else {
                carrying.remove(link)
                return false
            }
            return carrying.insert(link).inserted
        case Kind.goneLink where body.count >= 8:
            carrying.remove(body.loadUnaligned(fromByteOffset: 4, as: Int32.self))
            return false
        // `struct ifaddrmsg`: family, length, flags and scope, eight bits each.
        case Kind.newAddress where body.count >= 4: return body[3] < Self.linkScope
        // `struct rtmsg`: family, two lengths, type of service, table, protocol and scope, eight bits each.
        case Kind.newRoute where body.count >= 7: return body[6] < Self.linkScope
        default: return false
        }
    }
}
