import AgentEngine
import AgentProtocol
import AldabaTestSupport
import Foundation
import NIOPosix
import Testing

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5)))
struct AppSocketTests {
    private final class Nobody: AppSocketDelegate {
        func received(_ messages: [AppMessage], from connection: AppConnection) {}
        func closed(_ connection: AppConnection) {}
    }

    private func listen(_ path: String) async throws -> AppSocket {
        try await AppSocket.listen(path: path, group: MultiThreadedEventLoopGroup.singleton, delegate: Nobody())
    }

    @Test func `a socket where another agent answers is not taken`() async throws {
        let folder = try TemporaryFolder()
        let socket = try await listen(folder.path("agent.sock"))
        let failure = await #expect(throws: AgentStartError.self) { try await listen(folder.path("agent.sock")) }
        #expect(failure?.description.contains("another agent answers") == true)
        await socket.close()
        #expect(!FileManager.default.fileExists(atPath: folder.path("agent.sock")))
    }

    @Test func `a socket that a dead agent left is replaced`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("agent.sock")
        try Data().write(to: URL(fileURLWithPath: path))
        let socket = try await listen(path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        await socket.close()
    }

    @Test func `a folder is made for it that nobody else can enter`() async throws {
        let folder = try TemporaryFolder()
        let socket = try await listen(folder.path("made/agent.sock"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("made"))
        #expect((attributes[.posixPermissions] as? Int) == 0o700)
        await socket.close()
    }

    @Test func `a folder where others can write is refused`() async throws {
        let folder = try TemporaryFolder()
        chmod(folder.url.path, 0o777)
        let failure = await #expect(throws: AgentStartError.self) { try await listen(folder.path("agent.sock")) }
        #expect(failure?.description.contains("others can write to it") == true)
    }

    @Test func `a path that no socket can have is refused`() async throws {
        let path = "/tmp/" + String(repeating: "x", count: 120)
        let failure = await #expect(throws: AgentStartError.self) { try await listen(path) }
        #expect(failure?.description.contains("107 bytes") == true)
    }
}
