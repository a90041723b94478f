import AgentProtocol
import AldabaTestSupport
import Crypto
import Foundation
import NIOCore
import NIOSSL
import Testing
import X509

@testable import AgentEngine
@testable import AgentRuntime

/// Fetching from hosts that do as they should, over real connections on loopback.
@Suite(.timeLimit(.minutes(5)))
struct MediaFetcherTests {
    private func path(_ answer: MediaAnswer) throws -> String {
        switch answer {
        case .file(let path): return path
        case .failed(let failure): throw failure
        }
    }

    private func bytes(_ answer: MediaAnswer) throws -> [UInt8] {
        Array(try #require(FileManager.default.contents(atPath: try path(answer))))
    }

    @Test func `a picture comes as a file of its own, named as it is and shut to others`() async throws {
        let world = try FetchWorld()
        let picture = Samples.jpeg + [UInt8](repeating: 7, count: 300_000)
        let host = try await HostileHost { path, _ in
            path == "/a.png" ? .redirect("/b") : .file(picture, ["content-type: image/png"])
        }
        let answer = await world.fetch(host.url("/a.png"))
        #expect(try path(answer).hasSuffix(".jpg"))
        #expect(try bytes(answer) == picture)
        let attributes = try FileManager.default.attributesOfItem(atPath: path(answer))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(world.files("receiving").isEmpty && world.files("kept").isEmpty)
        let asked = try #require(await host.requests.next())
        #expect(asked.hasPrefix("GET /a.png HTTP/1.1\r\n"))
        #expect(asked.lowercased().contains("host: pictures.example"))
        world.fetcher.takeBack(try path(answer))
        await host.close()
        await world.end()
    }

    @Test func `what is kept is asked for again by its validator, and handed out as a copy`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { _, text in
            text.contains("if-none-match: \"v1\"")
                ? .raw(HostileHost.Answer.head(304, ["etag: \"v1\""])) : .file(Samples.gif, ["etag: \"v1\""])
        }
        let first = await world.fetch(host.url("/a"))
        try Data("changed".utf8).write(to: URL(fileURLWithPath: path(first)))
        let second = await world.fetch(host.url("/a"))
        #expect(try bytes(second) == Samples.gif)
        #expect(try path(first) != path(second))
        // Another app learns nothing of it.
        _ = await world.fetch(host.url("/a"), app: "com.example.other")
        var validators: [Bool] = []
        for _ in 0..<3 { validators.append(try #require(await host.requests.next()).contains("if-none-match")) }
        #expect(validators == [false, true, false])
        await host.close()
        await world.end()
    }

    @Test func `what is kept is known after a restart, and what was half done is gone`() async throws {
        let folder = try TemporaryFolder()
        let host = try await HostileHost { _, text in
            text.contains("if-modified-since: Mon")
                ? .raw(HostileHost.Answer.head(304, []))
                : .file(Samples.png, ["last-modified: Mon, 01 Jun 2026 00:00:00 GMT"])
        }
        let before = try FetchWorld(folder: folder)
        _ = try path(await before.fetch(host.url("/a")))
        await before.end()
        for name in ["receiving/half", "kept/stray", "kept/broken.json"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path("media/\(name)")))
        }
        let after = try FetchWorld(folder: folder)
        #expect(try bytes(await after.fetch(host.url("/a"))) == Samples.png)
        #expect(after.files("receiving").isEmpty && after.files("kept").count == 2 && after.files("handed").count == 1)
        _ = await host.requests.next()
        #expect(try #require(await host.requests.next()).contains("if-modified-since"))
        await host.close()
        await after.end()
    }

    @Test func `what changed is fetched anew, and what must not be stored is not kept`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { path, text in
            path == "/secret"
                ? .file(Samples.png, ["etag: \"v\"", "cache-control: private, no-store"])
                : text.contains("\"v1\"") ? .file(Samples.png, ["etag: \"v2\""]) : .file(Samples.gif, ["etag: \"v1\""])
        }
        #expect(try bytes(await world.fetch(host.url("/a"))) == Samples.gif)
        #expect(try bytes(await world.fetch(host.url("/a"))) == Samples.png)
        #expect(world.files("kept").count == 2)
        _ = await world.fetch(host.url("/secret"))
        #expect(world.files("kept").count == 2)
        await host.close()
        await world.end()
    }

    @Test func `a removed app's files go with it`() async throws {
        let world = try FetchWorld()
        let host = try await HostileHost { _, _ in .file(Samples.png, ["etag: \"v\""]) }
        _ = try path(await world.fetch(host.url("/a")))
        #expect(!world.files("kept").isEmpty && !world.files("handed").isEmpty)
        world.fetcher.remove("com.example.todo")
        // Asked on the same threads, so after it.
        _ = await world.fetch(host.url("/a"), app: "com.example.other")
        #expect(world.files("kept").count == 2)
        await host.close()
        await world.end()
    }

    @Test func `a device waits its moment of the spread before it asks anything`() async throws {
        let world = try FetchWorld(random: 1 << 63)
        let host = try await HostileHost { _, _ in .file(Samples.png) }
        _ = try path(await world.fetch(host.url("/a"), spread: 10))
        let waits = [await world.waits.next(), await world.waits.next()]
        #expect(Set(waits) == [.seconds(5), MediaFetcher.timeLimit])
        await host.close()
        await world.end()
    }

    @Test(arguments: [
        ("pictures.example", true, nil), ("other.example", true, "its certificate is not for other.example"),
        ("pictures.example", false, "no authority that is trusted here signed its certificate"),
    ])
    func `over TLS the host proves its name, although its address was given`(
        name: String, isTrusted: Bool, fault: String?
    ) async throws {
        let certificate = try TestCertificate(name: "pictures.example")
        var tls = TLSConfiguration.makeClientConfiguration()
        if isTrusted { tls.trustRoots = .certificates([certificate.certificate]) }
        let world = try FetchWorld([name: ["127.0.0.1"]], allowsHTTP: false, tls: tls)
        let host = try await HostileHost(tls: certificate.context()) { _, _ in .file(Samples.png) }
        let answer = await world.fetch(host.url("/a.png", host: name, isSecure: true))
        if let fault {
            guard case .failed(let failure) = answer else {
                Issue.record("another's certificate was taken")
                return
            }
            #expect(failure.reason == .unreachable)
            // No path of the libraries' sources, as their errors have.
            #expect(failure.description.contains(fault) && !failure.description.contains(".swift"))
        } else {
            #expect(try bytes(answer) == Samples.png)
        }
        await host.close()
        await world.end()
    }
}

/// A certificate for a name, which signs itself.
private struct TestCertificate {
    let certificate: NIOSSLCertificate
    private let key: NIOSSLPrivateKey

    init(name: String) throws {
        let key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName(name) }
        let made = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600),
            issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName(name)])
            }, issuerPrivateKey: .init(key))
        certificate = try NIOSSLCertificate(
            bytes: Array(try made.serializeAsPEM().pemString.utf8), format: .pem)
        self.key = try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
    }

    func context() throws -> NIOSSLContext {
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
    }
}
