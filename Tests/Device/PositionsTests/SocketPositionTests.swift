import AldabaTestSupport
import DevicePorts
import Foundation
import Testing

@testable import Positions

@Suite(.timeLimit(.minutes(1)))
struct SocketPositionTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("own/place") }

    init() throws { folder = try TemporaryFolder() }

    /// A source that listens already: the first thing that it is told has been told.
    private func start() async throws -> (SocketPosition, Listener) {
        let source = SocketPosition(path: path)
        var heard = Listener(source)
        let first = try await connect()
        first.write("0 0\n")
        #expect(await heard.position() == Position(0, 0))
        return (source, heard)
    }

    private func connect() async throws -> Client {
        // The thread makes the socket in its own time.
        while true {
            if let client = Client(path) { return client }
            await Task.yield()
        }
    }

    @Test func `lines of several programs are positions, and only this user finds the socket`() async throws {
        var (source, heard) = try await start()
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(lstat(folder.path("own"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        let (one, other) = (try await connect(), try await connect())
        one.write("1 2 3\n")
        #expect(await heard.position() == Position(1, 2, 3))
        other.write(#"{"latitude":4,"#)
        one.write("5 6\n")
        #expect(await heard.position() == Position(5, 6))
        other.write("\"longitude\":5}\n")
        #expect(await heard.position() == Position(4, 5))
        one.write("7 8")
        one.endWriting()
        #expect(await heard.position() == Position(7, 8), "the last line needs no end")
        source.stop()
        #expect(one.readAll() == "")
    }

    @Test(arguments: ["nonsense\n", "1 2\nnonsense\n3 4\n", "91 0\n", String(repeating: "1", count: 300), "\n"])
    func `who writes what is no position hears why and is disconnected`(text: String) async throws {
        let (source, _) = try await start()
        let client = try await connect()
        client.write(text)
        let answer = client.readAll()
        #expect(answer.hasPrefix("this line holds no position: ") && answer.hasSuffix("\n"))
        source.stop()
    }

    @Test func `the one that is silent for longest makes room`() async throws {
        var (source, heard) = try await start()
        let first = try await connect()
        first.write("1 1\n")
        #expect(await heard.position() == Position(1, 1))
        var others: [Client] = []
        for number in 0..<16 {
            let client = try await connect()
            client.write("2 \(number)\n")
            #expect(await heard.position() == Position(2, Double(number)))
            others.append(client)
        }
        #expect(first.readAll() == "")
        source.stop()
    }

    @Test func `a rest takes the socket away, and a start makes it again`() async throws {
        var (source, heard) = try await start()
        let client = try await connect()
        client.write("1 2\n")
        #expect(await heard.position() == Position(1, 2))
        source.rest()
        #expect(client.readAll() == "")
        #expect(Client(path) == nil)
        heard = Listener(source)
        try await connect().write("3 4\n")
        #expect(await heard.position() == Position(3, 4))
        source.stop()
    }

    @Test func `what an ended program left is replaced, and what is another's is not`() async throws {
        let (left, _) = try await start()
        let copy = folder.path("own/copy")
        // Its name outlives the socket, as after a kill.
        #expect(link(path, copy) == 0)
        let client = try await connect()
        left.stop()
        #expect(client.readAll() == "")
        #expect(rename(copy, path) == 0)
        let (source, _) = try await start()
        let second = SocketPosition(path: path)
        var heard = Listener(second)
        #expect(await heard.fault().contains("another program listens"))
        second.stop()
        source.stop()
        try write("mine", to: folder.path("own/file"))
        let third = SocketPosition(path: folder.path("own/file"))
        heard = Listener(third)
        #expect(await heard.fault().contains("no socket of this user"))
        third.stop()
    }

    @Test func `where somebody else listens it listens when that has ended`() async throws {
        let (first, _) = try await start()
        let second = SocketPosition(path: path)
        var heard = Listener(second)
        #expect(await heard.fault().contains("another program listens"))
        let client = try await connect()
        first.stop()
        #expect(client.readAll() == "")
        try await connect().write("1 2\n")
        #expect(await heard.position() == Position(1, 2))
        second.stop()
    }

    @Test func `a folder that others can write to, and a path that is too long, are refused with words`() async throws {
        #expect(mkdir(folder.path("open"), 0o777) == 0 && chmod(folder.path("open"), 0o777) == 0)
        for (path, word) in [
            (folder.path("open/place"), "others can write"),
            (folder.path(String(repeating: "x", count: 100)), "longer than"),
        ] {
            let source = SocketPosition(path: path)
            var heard = Listener(source)
            #expect(await heard.fault().contains(word))
            source.stop()
        }
    }
}

/// A program that tells a position.
private final class Client: Sendable {
    private let socket: Int32

    /// `nil` when nobody listens.
    init?(_ path: String) {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { return nil }
    }

    deinit { close(socket) }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    func endWriting() { shutdown(socket, Int32(SHUT_WR)) }

    /// What comes until the other end closes.
    func readAll() -> String {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while case let count = recv(socket, &bytes, bytes.count, 0), count > 0 { all += bytes.prefix(count) }
        return String(decoding: all, as: UTF8.self)
    }
}
