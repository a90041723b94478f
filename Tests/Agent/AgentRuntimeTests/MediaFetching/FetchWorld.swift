import AgentProtocol
import AldabaTestSupport
import Foundation
import NIOCore
import NIOSSL
import Networking
import Synchronization

@testable import AgentEngine
@testable import AgentRuntime

/// A name server that knows what a test tells it.
struct TestResolver: HostResolver {
    var names: [String: [String]]
    /// Asked again, it says these of a host.
    var later: [String: [String]] = [:]
    private let asked = SharedNames()

    init(_ names: [String: [String]], later: [String: [String]] = [:]) {
        self.names = names
        self.later = later
    }

    var questions: [String] { asked.all.withLock { $0 } }

    func addresses(of host: String, port: Int) async throws -> [SocketAddress] {
        let isFirst = asked.all.withLock { all in
            defer { all.append(host) }
            return !all.contains(host)
        }
        guard let known = isFirst ? names[host] : later[host] ?? names[host] else { throw HostUnknown("no such name") }
        return try known.map { try SocketAddress(ipAddress: $0, port: port) }
    }
}

private final class SharedNames: Sendable {
    let all = Mutex([String]())
}

/// A fetcher with a folder, a clock and a name server of the test's own. Loopback is allowed, and so is `http`.
final class FetchWorld: Sendable {
    let folder: TemporaryFolder
    let resolver: TestResolver
    /// How long was waited for, each time: the time limit and moments of the spread.
    let waits = Inbox<Duration>()
    /// Opened, it is late: every wait for the time limit is over.
    let isLate = Latch()
    let fetcher: MediaFetcher
    private let allowsHTTP: Bool

    init(
        _ names: [String: [String]] = ["pictures.example": ["127.0.0.1"]], later: [String: [String]] = [:],
        allowing ranges: [String] = ["127.0.0.0/8"], allowsHTTP: Bool = true, tls: TLSConfiguration? = nil,
        folder: TemporaryFolder? = nil, random: UInt64 = 0
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        resolver = TestResolver(names, later: later)
        self.allowsHTTP = allowsHTTP
        let (waits, isLate) = (waits, isLate)
        fetcher = MediaFetcher(
            folder: self.folder.path("media"), networks: ranges.compactMap { AddressRange($0) },
            parts: MediaFetcher.Parts(
                resolver: resolver, tls: tls ?? .makeClientConfiguration(),
                sleep: { duration in
                    waits.put(duration)
                    guard duration == MediaFetcher.timeLimit else { return }
                    // Ends when it is late, or when its task is cancelled.
                    let (ends, end) = AsyncStream.makeStream(of: Void.self)
                    Task {
                        await isLate.wait()
                        end.finish()
                    }
                    for await _ in ends {}
                    try Task.checkCancellation()
                },
                random: { random }))
    }

    func fetch(
        _ url: String, hint: String? = nil, spread: Double = 0, app: BundleID = "com.example.todo"
    ) async -> MediaAnswer {
        await withCheckedContinuation { continuation in
            begin(MediaRequest(url: url, typeHint: hint, spread: spread), app) { continuation.resume(returning: $0) }
        }
    }

    func begin(
        _ request: MediaRequest, _ app: BundleID = "com.example.todo",
        then complete: @escaping @Sendable (MediaAnswer) -> Void
    ) {
        fetcher.begin(request, for: app, allowsHTTP: allowsHTTP, then: complete)
    }

    func reason(_ url: String, hint: String? = nil) async -> String? {
        if case .failed(let failure) = await fetch(url, hint: hint) { failure.code } else { nil }
    }

    /// The files in a folder of the fetcher's, at any depth.
    func files(_ name: String) -> [String] {
        let root = folder.path("media/\(name)")
        return (FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(root)/\($0)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    /// Ends, and lets whoever waits go on.
    func end() async {
        isLate.open()
        await fetcher.close()
        waits.finish()
    }
}
