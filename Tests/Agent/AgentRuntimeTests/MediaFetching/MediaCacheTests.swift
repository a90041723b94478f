import AgentProtocol
import AldabaTestSupport
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct MediaCacheTests {
    private func key(_ name: String, app: BundleID = "com.example.todo") -> MediaCache.Key {
        MediaCache.Key(app: app, url: "https://example.com/\(name)")
    }

    private func entry(_ name: String, size: Int64 = 10, file: String? = nil, app: BundleID = "com.example.todo") throws
        -> MediaCache.Entry
    {
        MediaCache.Entry(
            key: key(name, app: app), name: file ?? name, size: size,
            kind: try #require(FetchedMediaKind(head: Samples.png, declared: [])),
            source: "https://example.com/\(name)",
            validator: try #require(MediaValidator(entityTag: "\"1\"", lastModified: nil)))
    }

    @Test func `what was asked for the longest ago gives way`() throws {
        var cache = MediaCache(byteLimit: 30)
        for name in ["a", "b", "c"] { #expect(try cache.insert(entry(name)).isEmpty) }
        #expect(cache.find(key("a")) != nil)
        #expect(try cache.insert(entry("d")).map(\.name) == ["b"])
        #expect(cache.size == 30)
    }

    @Test func `one key has one file, and what alone is too large is not kept`() throws {
        var cache = MediaCache(byteLimit: 30)
        _ = try cache.insert(entry("a"))
        #expect(try cache.insert(entry("a", size: 20, file: "new")).map(\.name) == ["a"])
        #expect(cache.size == 20)
        #expect(try cache.insert(entry("b", size: 31)).map(\.name) == ["b"])
        #expect(cache.find(key("a"))?.name == "new")
    }

    @Test func `there are no more files than may be`() throws {
        var cache = MediaCache(countLimit: 2)
        for name in ["a", "b"] { _ = try cache.insert(entry(name)) }
        #expect(try cache.insert(entry("c")).map(\.name) == ["a"])
    }

    @Test func `an app finds its own files alone, and takes them with it`() throws {
        var cache = MediaCache()
        _ = try cache.insert(entry("a"))
        _ = try cache.insert(entry("a", file: "other", app: "com.example.other"))
        #expect(cache.find(key("a", app: "com.example.third")) == nil)
        #expect(cache.removeAll(of: "com.example.todo").map(\.name) == ["a"])
        #expect(cache.find(key("a", app: "com.example.other"))?.name == "other")
        #expect(cache.size == 10)
    }

    @Test func `whatever is put in, its bytes and files stay within their bounds`() throws {
        var generator = SeededGenerator(seed: 11)
        var cache = MediaCache(byteLimit: 100, countLimit: 7)
        var files: [String: Int64] = [:]
        for step in 0..<2000 {
            let size = Int64.random(in: 1...40, using: &generator)
            let name = "\(Int.random(in: 0..<20, using: &generator))"
            files["\(step)"] = size
            for gone in try cache.insert(entry(name, size: size, file: "\(step)")) { files[gone.name] = nil }
            #expect(cache.size <= 100 && files.count <= 7 && files.values.reduce(0, +) == cache.size)
        }
    }
}
