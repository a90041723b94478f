import AldabaTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Testing

@testable import ControlAPI

private let picture: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D] + Array("IHDR".utf8) + Array(0..<100)

/// A server with a media store of its own.
private func withMedia(
    quota: Int64 = 1_000, _ body: (RunningListener, TemporaryFolder) async throws -> Void
) async throws {
    let folder = try TemporaryFolder()
    let store = try MediaStore(
        folder: folder.path("media"), settings: .init(quota: quota, lifetime: 3_600_000), clock: ManualClock().function)
    var services = FakeServer().services(.open)
    services.media = MediaServices(store: store) { "https://push.example/base" }
    try await withListener(.development(services)) { try await body($0, folder) }
}

private struct Kept: Decodable {
    var name: String
    var url: String
    var type: String
    var bytes: Int
    var sha256: String
}

private func upload(_ bytes: [UInt8], to listener: RunningListener, status: Int = 201) async throws -> Kept {
    let answer = try await listener.send("POST", "/v1/media", headers: ["Content-Type": "text/html"], body: bytes)
    #expect(answer.status == status)
    return try JSONDecoder().decode(Kept.self, from: Data(answer.bytes))
}

extension Kept {
    var path: String { "/media/\(name).png" }
}

@Test func `an uploaded file is served as what it is, whatever it was said to be`() async throws {
    try await withMedia { listener, _ in
        let kept = try await upload(picture, to: listener)
        #expect(kept.url == "https://push.example/base/media/\(kept.name).png")
        #expect(kept.type == "image/png" && kept.bytes == picture.count)
        let answer = try await listener.send("GET", kept.path)
        #expect(answer.status == 200 && answer.bytes == picture)
        #expect(try await upload(picture, to: listener, status: 200).url == kept.url)
    }
}

@Test func `the answer's header fields let a browser run nothing, and a client go on later`() async throws {
    try await withMedia { listener, _ in
        let kept = try await upload(picture, to: listener)
        let host = "Host: 127.0.0.1:\(listener.port)\r\n"
        for method in ["HEAD", "GET"] {
            let text = try await RawExchange.answer(
                to: "\(method) \(kept.path) HTTP/1.1\r\n\(host)Connection: close\r\n\r\n", port: listener.port)
            let head = text.components(separatedBy: "\r\n\r\n").first?.lowercased() ?? ""
            for line in [
                "content-type: image/png", "content-length: \(picture.count)", "x-content-type-options: nosniff",
                "accept-ranges: bytes", "etag: \"\(kept.sha256)\"",
                "content-security-policy: default-src 'none'; sandbox",
            ] {
                #expect(head.contains(line))
            }
        }
    }
}

@Test(
    arguments: [
        (["Range": "bytes=0-9"], 206, 0..<10), (["Range": "bytes=110-"], 206, 110..<116),
        (["Range": "bytes=-6"], 206, 110..<116), (["Range": "bytes=116-"], 416, nil),
        (["Range": "bytes=0-1,3-4"], 200, 0..<116), (["Range": "bytes=0-9", "If-Range": "\"other\""], 200, 0..<116),
        (["If-None-Match": "\"other\""], 200, 0..<116), (["If-None-Match": "*"], 304, 0..<0),
        (["If-None-Match": "*", "Range": "bytes=0-9"], 304, 0..<0),
    ] as [([String: String], Int, Range<Int>?)])
func `a part is served, or nothing where the client has it`(
    headers: [String: String], status: Int, part: Range<Int>?
) async throws {
    try await withMedia { listener, _ in
        let kept = try await upload(picture, to: listener)
        let answer = try await listener.send("GET", kept.path, headers: headers)
        #expect(answer.status == status)
        if let part { #expect(answer.bytes == Array(picture[part])) }
    }
}

@Test func `what is no picture, sound or movie is refused in a sentence`() async throws {
    try await withMedia { listener, folder in
        let page = try await listener.send("POST", "/v1/media", body: Array("<html>".utf8))
        #expect(page.status == 415 && page.body.contains(#""code":"unknownFormat""#) && page.body.contains("PNG"))
        let empty = try await listener.send("POST", "/v1/media", body: [])
        #expect(empty.status == 400 && empty.body.contains(#""code":"empty""#))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("media")).isEmpty)
    }
}

@Test func `a full quota is told with the setting's name`() async throws {
    try await withMedia(quota: 100) { listener, _ in
        let answer = try await listener.send("POST", "/v1/media", body: picture)
        #expect(answer.status == 507 && answer.body.contains("media-quota"))
    }
}

@Test func `an upload that ends early leaves nothing behind`() async throws {
    try await withMedia { listener, folder in
        let exchange = try await RawExchange.begin(port: listener.port)
        try await exchange.write(
            "POST /v1/media HTTP/1.1\r\nHost: 127.0.0.1:\(listener.port)\r\nContent-Length: 100\r\n\r\nGIF89a")
        try await exchange.close()
        // The next answers come when the broken one is over or not; a listing never tells of it.
        let list = try await listener.send("GET", "/v1/media")
        #expect(list.status == 200 && list.body == "[]")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("media"))
        #expect(names.allSatisfy { $0.hasSuffix(".arriving") })
    }
}

@Test func `files are listed and deleted by name`() async throws {
    try await withMedia { listener, _ in
        let kept = try await upload(picture, to: listener)
        #expect(try await listener.send("GET", "/v1/media").body.contains(kept.url))
        #expect(try await listener.send("GET", "/v1/media?after=\(kept.name)").body == "[]")
        #expect(try await listener.send("GET", "/v1/media?after=x").status == 400)
        #expect(try await listener.send("GET", "/v1/media?limit=0").status == 400)
        #expect(try await listener.send("DELETE", "/v1/media/x").status == 404)
        #expect(try await listener.send("DELETE", "/v1/media/\(kept.name)").status == 200)
        #expect(try await listener.send("DELETE", "/v1/media/\(kept.name)").status == 404)
        #expect(try await listener.send("GET", kept.path).status == 404)
    }
}

/// A store that holds the team's picture, and one that asks of it.
private func route(_ folder: TemporaryFolder) throws -> MediaRoute {
    let store = try MediaStore(
        folder: folder.path("media"), settings: .init(quota: 1000, lifetime: 3_600_000), clock: ManualClock().function)
    return MediaRoute(
        media: MediaServices(store: store) { "https://push.example" },
        access: ProviderAccess(authentication: FakeServer()))
}

private func request(_ method: HTTPRequest.Method, _ authorization: String?, _ body: RequestBody) -> Request {
    let fields = authorization.map { HTTPFields(dictionaryLiteral: (.authorization, $0)) } ?? HTTPFields()
    return Request(
        head: .init(method: method, scheme: "https", authority: "localhost", path: "/v1/media", headerFields: fields),
        body: body)
}

@Test(arguments: [nil, "bearer bad", "bearer old"])
func `over TLS nothing is taken, listed or deleted without a provider token`(authorization: String?) async throws {
    let folder = try TemporaryFolder()
    let route = try route(folder)
    let body = RequestBody(buffer: ByteBuffer(bytes: picture))
    let upload = request(.post, authorization, body)
    await #expect(throws: ControlError.self) { try await route.upload(upload) }
    let list = request(.get, authorization, RequestBody(buffer: ByteBuffer()))
    await #expect(throws: ControlError.self) { try await route.list(list) }
    let name = String(repeating: "0", count: 40)
    await #expect(throws: ControlError.self) { try await route.delete(list, name: name) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("media")).isEmpty)
}
