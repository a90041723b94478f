import CLinux
import DevicePorts
import Foundation
import Machine

/// Where the machine is, as other programs of the same user say: each line that one writes to a Unix socket is a position (see
/// `Docs/notification-centre.md`).
///
/// The socket (0600, in a folder of the user's own) is there while something waits for a place. Sixteen may be connected; the
/// one that was silent for longest makes room for another. Who writes what is no position, or a line of more than 256 bytes,
/// is told what is wrong and disconnected. Where the socket cannot be made, and where no connection can be taken, that is tried
/// again after 1 s, 2 s, … 60 s.
public final class SocketPosition: PositionSource {
    public let name: String
    private let thread: PositionThread

    /// - Parameter path: The socket; relative ones count from the current folder. Its folder is made where it is missing.
    public init(path: String) {
        let path = URL(fileURLWithPath: path).path
        name = "the socket \(path)"
        thread = PositionThread(name: "aldaba-place") { SocketWork(path: path, teller: $0) }
    }

    public func start(events: @escaping @Sendable (PositionEvent) -> Void) { thread.start(events: events) }
    public func rest() { thread.rest() }
    public func stop() { thread.stop() }
}

/// The thread's own: listens, and reads what comes.
private final class SocketWork: PositionWork {
    private static let mostPeers = 16

    private struct Peer {
        let socket: Int32
        var buffer = LineBuffer()
        var lastWord = ContinuousClock.now
    }

    private let path: String
    private let teller: PositionTeller
    private var listener: PositionListener?
    private var peers: [Peer] = []
    private var backOff = BackOff()
    /// When to listen, or to take connections, again; `nil` when that is not waited for.
    private var nextTry: ContinuousClock.Instant?

    init(path: String, teller: PositionTeller) {
        (self.path, self.teller) = (path, teller)
        listen()
    }

    /// A socket that stays readable, though nobody can be taken, is left out until the next try.
    var descriptors: [pollfd] {
        let listening = nextTry == nil ? listener?.socket ?? -1 : -1
        return ([listening] + peers.map(\.socket)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }
    var deadline: ContinuousClock.Instant? { nextTry }

    func work() {
        if let nextTry, nextTry <= .now {
            self.nextTry = nil
            if listener == nil { listen() }
        }
        if nextTry == nil { takeAll() }
        for index in peers.indices.reversed() where !reads(index) {
            close(peers[index].socket)
            peers.remove(at: index)
        }
    }

    func end() {
        // First the name: who sees the end of a connection can find no socket any more.
        listener?.close()
        listener = nil
        for peer in peers { close(peer.socket) }
        peers = []
    }

    private func listen() {
        do throws(PositionListener.Fault) {
            listener = try PositionListener(path: path)
            backOff.reset()
        } catch {
            if error.mayPass { nextTry = backOff.deadline() }
            teller.fail(error.description)
        }
    }

    private func takeAll() {
        while let listener {
            switch listener.accept() {
            case .nobody: return
            case .connection(let socket):
                backOff.reset()
                took(socket)
            case .failed(let code):
                nextTry = backOff.deadline()
                return teller.fail("the socket \(path) takes no connections: \(String(cString: strerror(code)))")
            }
        }
    }

    private func took(_ socket: Int32) {
        var credentials = aldaba_peer()
        guard aldaba_peer_credentials(socket, &credentials) == 0, credentials.uid == getuid() else {
            Self.say("only programs of the agent's user may tell where the machine is", to: socket)
            close(socket)
            return
        }
        if peers.count >= Self.mostPeers,
            let silent = peers.indices.min(by: { peers[$0].lastWord < peers[$1].lastWord })
        {
            close(peers[silent].socket)
            peers.remove(at: silent)
        }
        peers.append(Peer(socket: socket))
    }

    /// Reads what a peer wrote; whether there is more to come.
    private func reads(_ index: Int) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(peers[index].socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if let rest = peers[index].buffer.finish() { _ = take(rest, from: index) }
            return false
        }
        peers[index].lastWord = .now
        let lines = peers[index].buffer.append(bytes.prefix(count))
        for line in lines.dropLast() { if case .failure = PositionLine.read(line) { return take(line, from: index) } }
        if let last = lines.last, !take(last, from: index) { return false }
        // It would be refused when it ends, if it did.
        if peers[index].buffer.isTooLong, let rest = peers[index].buffer.finish() { return take(rest, from: index) }
        return true
    }

    /// Takes a line; whether it was one. Others are still heard when this one writes nonsense.
    private func take(_ line: [UInt8], from index: Int) -> Bool {
        switch PositionLine.read(line) {
        case .success(let position):
            teller.tell(position)
            return true
        case .failure(let fault):
            Self.say("this line holds no position: \(fault)", to: peers[index].socket)
            return false
        }
    }

    private static func say(_ words: String, to socket: Int32) {
        let bytes = Array("\(words)\n".utf8)
        _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
}
