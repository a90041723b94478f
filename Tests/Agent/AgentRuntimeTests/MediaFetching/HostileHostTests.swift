import AgentProtocol
import AldabaTestSupport
import Foundation
import NIOCore
import Networking
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// Fetching from hosts that mean harm, over real connections on loopback.
@Suite(.timeLimit(.minutes(5)))
struct HostileHostTests {
    /// The code of what one answer leads to.
    private func code(
        _ world: FetchWorld, _ path: String = "/a.jpg",
        _ answer: @escaping @Sendable (String, String) -> HostileHost.Answer
    ) async throws -> String? {
        let host = try await HostileHost(answer: answer)
        let code = await world.reason(host.url(path), hint: "jpg")
        #expect(world.files("receiving").isEmpty && world.files("handed").isEmpty && world.files("kept").isEmpty)
        await host.close()
        return code
    }

    @Test func `redirects in a circle end`() async throws {
        let world = try FetchWorld()
        #expect(try await code(world) { _, _ in .redirect("/a.jpg") } == "tooManyRedirects")
        #expect(world.resolver.questions.count == 6)
        await world.end()
    }

    @Test func `a redirect to a private address is refused, and nobody is connected to`() async throws {
        let world = try FetchWorld([
            "pictures.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"], "169.254.169.254": ["169.254.169.254"],
        ])
        for target in ["http://inside.example/", "http://169.254.169.254/latest/meta-data"] {
            #expect(try await code(world) { _, _ in .redirect(target) } == "refusedAddress")
        }
        await world.end()
    }

    @Test func `a name that turns private between two hops is refused`() async throws {
        let world = try FetchWorld(later: ["pictures.example": ["10.0.0.1"]])
        #expect(try await code(world) { _, _ in .redirect("/b.jpg") } == "refusedAddress")
        await world.end()
    }

    @Test func `without an allow list loopback is refused by name and by number, and the host hears nothing`()
        async throws
    {
        let world = try FetchWorld(
            ["pictures.example": ["127.0.0.1"], "127.0.0.1": ["127.0.0.1"], "localhost": ["::1", "127.0.0.1"]],
            allowing: [])
        let host = try await HostileHost { _, _ in .file(Samples.png) }
        for name in ["pictures.example", "127.0.0.1", "localhost"] {
            #expect(await world.reason(host.url("/a.png", host: name)) == "refusedAddress")
        }
        await host.close()
        #expect(await host.requests.next() == nil)
        await world.end()
    }

    @Test func `the system's own names are checked as any other`() async throws {
        let resolver = SystemHostResolver()
        let addresses = try await resolver.addresses(of: "localhost", port: 80)
        #expect(!addresses.isEmpty && addresses.allSatisfy { AddressRule().refusal(of: $0) != nil })
        // What the C library reads as an address is one.
        for odd in ["127.1", "0x7f.1", "2130706433"] {
            let addresses = try await resolver.addresses(of: odd, port: 80)
            #expect(!addresses.isEmpty && addresses.allSatisfy { AddressRule().refusal(of: $0) != nil })
        }
    }

    @Test func `http is refused where nobody allows it`() async throws {
        let world = try FetchWorld(allowsHTTP: false)
        #expect(try await code(world) { _, _ in .file(Samples.png) } == "notSecure")
        await world.end()
    }

    @Test func `a file that drips is given up when the time is up`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { _, _ in
            .stalls(HostileHost.Answer.head(200, ["content-length: 100"]) + Samples.png)
        }
        async let code = world.reason(host.url("/a.png"))
        _ = await host.requests.next()
        world.isLate.open()
        #expect(await code == "tooSlow")
        #expect(world.files("receiving").isEmpty)
        await host.close()
        await world.end()
    }

    @Test func `a host that says nothing is given up when the time is up`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { _, _ in .stalls([]) }
        async let code = world.reason(host.url("/a.png"))
        _ = await host.requests.next()
        world.isLate.open()
        #expect(await code == "tooSlow")
        await host.close()
        await world.end()
    }

    @Test(arguments: [[String](), ["content-length: 1000000000000"]])
    func `a body without an end is cut off where its kind ends`(headers: [String]) async throws {
        let world = try FetchWorld()
        let head = HostileHost.Answer.head(200, headers)
        #expect(try await code(world) { _, _ in .endless(head + Samples.png) } == "tooLarge")
        await world.end()
    }

    @Test func `headers without an end are given up`() async throws {
        let world = try FetchWorld()
        let line = Array("x-more: \(String(repeating: "x", count: 1000))\r\n".utf8)
        let head = Array("HTTP/1.1 200 OK\r\n".utf8) + (0..<200).flatMap { _ in line }
        #expect(try await code(world) { _, _ in .raw(head) } == "unreachable")
        await world.end()
    }

    @Test(arguments: [Samples.page, Samples.gzip, []])
    func `what is called a picture and is none is refused`(body: [UInt8]) async throws {
        let world = try FetchWorld()
        #expect(try await code(world) { _, _ in .file(body, ["content-type: image/jpeg"]) } == "notMedia")
        await world.end()
    }

    @Test func `a page that says not found is no picture, whatever it holds`() async throws {
        let world = try FetchWorld()
        #expect(
            try await code(world) { _, _ in .file(Samples.png, status: 404, ["content-type: image/png"]) }
                == "notFound(404)")
        await world.end()
    }

    @Test func `a packed answer is not unpacked`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { _, _ in
            .file(Samples.gzip, ["content-encoding: gzip", "content-type: image/png"])
        }
        #expect(await world.reason(host.url("/a.png")) == "notMedia")
        #expect(try #require(await host.requests.next()).lowercased().contains("accept-encoding: identity"))
        await host.close()
        await world.end()
    }

    @Test func `a connection that ends early brings nothing`() async throws {
        let world = try FetchWorld()
        let head = HostileHost.Answer.head(200, ["content-length: 100"])
        #expect(try await code(world) { _, _ in .raw(head + Samples.png) } == "unreachable")
        #expect(try await code(world) { _, _ in .raw(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8)) } == "unreachable")
        await world.end()
    }

    @Test func `a host that nobody knows, and one that takes no connection`() async throws {
        let world = try FetchWorld()
        #expect(await world.reason("http://nobody.example/") == "unknownHost")
        let host = try await HostileHost { _, _ in .raw([]) }
        await host.close()
        #expect(await world.reason(host.url("/")) == "unreachable")
        await world.end()
    }

    @Test func `more at once than may be is turned away at once`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { _, _ in .stalls([]) }
        let answers = Inbox<MediaAnswer>()
        for number in 0..<MediaFetcher.countLimit {
            world.begin(MediaRequest(url: host.url("/\(number)"))) { answers.put($0) }
        }
        #expect(await world.reason(host.url("/more")) == "busy")
        world.isLate.open()
        for _ in 0..<MediaFetcher.countLimit {
            guard case .failed(let failure)? = await answers.next() else {
                Issue.record("not given up")
                continue
            }
            #expect(failure.reason == .tooSlow)
        }
        await host.close()
        await world.end()
    }
}
