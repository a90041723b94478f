import AgentProtocol
import AldabaTestSupport
import Foundation
import NIOEmbedded
import Networking
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// Files that extensions ask for: whose they are, how many, and what is known of those that do not come.
@Suite(.timeLimit(.minutes(5)))
struct ExtensionMediaTests {
    private static let id = NotificationID(rawValue: 7)
    private let folder: TemporaryFolder
    private let channel = NIOAsyncTestingChannel()
    private let connection: AppConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = AppConnection(
            peer: Peer(process: getpid(), user: getuid(), program: "/opt/todo-service"), channel: channel)
    }

    private func media() -> ExtensionMedia {
        ExtensionMedia(
            MediaFetcher(
                folder: folder.path("media"), networks: [],
                parts: MediaFetcher.Parts(
                    resolver: SystemHostResolver(),
                    sleep: { _ in for await _ in AsyncStream<Never>.makeStream().stream {} }, random: { 0 })))
    }

    /// Asks for a file that cannot be fetched: the app does not allow `http`.
    private func ask(_ media: ExtensionMedia, _ request: Int64, for id: NotificationID? = Self.id) async throws
        -> String
    {
        media.fetch(
            MediaRequest(url: "http://pictures.example/a.png"), request, for: id, of: "com.example.todo",
            allowsHTTP: false, to: connection)
        let messages = try await channel.waitForOutboundWrite(as: [AgentMessage].self)
        guard case .fetched(request, .failed(let failure))? = messages.first else { return "\(messages)" }
        return failure.code
    }

    @Test func `why a file does not come is answered, and kept until its notification is stored`() async throws {
        let media = media()
        media.begin(Self.id)
        #expect(try await ask(media, 1) == "notSecure")
        #expect(try #require(media.failures(of: Self.id)).hasPrefix("notSecure: http://pictures.example"))
        media.end(Self.id)
        #expect(media.failures(of: Self.id) == nil)
    }

    @Test func `a notification may ask for so many files, and the next one for as many`() async throws {
        let media = media()
        media.begin(Self.id)
        for request in 1...Int64(ExtensionMedia.countLimit) { #expect(try await ask(media, request) == "notSecure") }
        #expect(try await ask(media, 100) == "busy")
        #expect(try #require(media.failures(of: Self.id)).utf8.count <= 500)
        let next = NotificationID(rawValue: 8)
        media.begin(next)
        #expect(try await ask(media, 101, for: next) == "notSecure")
    }

    @Test func `who has no notification, or one that is stored, is fetched nothing`() async throws {
        let media = media()
        #expect(try await ask(media, 1, for: nil) == "busy")
        media.begin(Self.id)
        media.end(Self.id)
        #expect(try await ask(media, 2) == "busy")
    }

    @Test func `where nobody fetches it is said`() async throws {
        let media = ExtensionMedia(nil)
        media.begin(Self.id)
        #expect(try await ask(media, 1) == "busy")
    }
}
