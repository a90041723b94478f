import AgentEngine
import AgentProtocol
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Networking
import Platform
import Synchronization

/// Fetches files for service extensions: the I/O around ``MediaFetch``, ``MediaCache`` and ``FetchJitter``.
///
/// Guarantees: each request is answered exactly once, within ``timeLimit``, and at most ``countLimit`` are in progress.
/// Received bytes go to the disk as they come. Each answer has a file of its own.
package final class MediaFetcher: Sendable {
    /// The dependencies of fetching.
    package struct Parts: Sendable {
        /// Resolves the addresses of hosts.
        package var resolver: any HostResolver
        /// The TLS configuration, with the authorities that may sign hosts' certificates.
        package var tls: TLSConfiguration
        /// The device's own server; `nil` without one.
        package var ownServer: OwnServer?
        /// Waits, until its task is cancelled.
        package var sleep: @Sendable (Duration) async throws -> Void
        /// Draws a number evenly from all there are.
        package var random: @Sendable () -> UInt64

        /// Creates the dependencies; with the system's authorities by default.
        package init(
            resolver: any HostResolver, tls: TLSConfiguration = .makeClientConfiguration(),
            ownServer: OwnServer? = nil,
            sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> UInt64
        ) {
            self.resolver = resolver
            self.tls = tls
            self.ownServer = ownServer
            self.sleep = sleep
            self.random = random
        }
    }

    /// The device's own server, whose media are fetched from any address, with the trust of the connection to it.
    package struct OwnServer: Sendable {
        /// The control API's URL.
        package var url: MediaURL
        /// The TLS configuration with the authorities that may sign the server's certificate.
        package var tls: TLSConfiguration

        /// Creates the server's part from the control API's URL.
        ///
        /// - Throws: ``MediaFailure`` for a URL that cannot be fetched from.
        package init(controlURL: String, tls: TLSConfiguration) throws(MediaFailure) {
            url = try MediaURL(controlURL)
            self.tls = tls
        }
    }

    /// How long one request may take, its part of the spread included. An extension has a little more.
    package static let timeLimit = Duration.seconds(25)
    /// The most requests in progress.
    package static let countLimit = 32

    private struct State {
        /// `nil` until the folder was read.
        var cache: MediaCache?
        var tasks: [UInt64: Task<Void, Never>?] = [:]
        var lastTask: UInt64 = 0
        var isClosed = false
    }

    private let folder: MediaFolder
    private let addresses: AddressRule
    private let parts: Parts
    private let threads: NIOThreadPool
    private let state = Mutex(State())

    /// Touches nothing yet.
    ///
    /// - Parameters:
    ///   - folder: Its own; made where it is missing.
    ///   - networks: Addresses that are fetched from beside the public ones.
    package init(
        folder: String, networks: [AddressRange], parts: Parts, threads: NIOThreadPool = .singleton
    ) {
        self.folder = MediaFolder(path: folder)
        addresses = AddressRule(allowing: networks)
        self.parts = parts
        self.threads = threads
    }

    /// Fetches a file for an app. Returns at once.
    ///
    /// - Parameters:
    ///   - allowsHTTP: Whether the app allows `http`, too.
    ///   - complete: Called exactly once, on any thread.
    package func begin(
        _ request: MediaRequest, for app: BundleID, allowsHTTP: Bool,
        then complete: @escaping @Sendable (MediaAnswer) -> Void
    ) {
        let number: UInt64? = state.withLock { state in
            guard !state.isClosed, state.tasks.count < Self.countLimit else { return nil }
            state.lastTask += 1
            state.tasks[state.lastTask] = .some(nil)
            return state.lastTask
        }
        guard let number else {
            return complete(
                .failed(MediaFailure(.busy, "\(Self.countLimit) files are being fetched already; send fewer at once")))
        }
        let rules = MediaFetch.Rules(
            addresses: addresses, allowsHTTP: allowsHTTP, ownServer: parts.ownServer?.url)
        let task = Task {
            complete(await self.fetch(request, for: app, rules: rules))
            self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
        }
        let isClosed = state.withLock { state in
            if state.tasks[number] != nil { state.tasks[number] = task }
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    /// Ends the requests in progress: they are answered as too slow. Nothing more is fetched.
    package func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.tasks.values.compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Deletes the file of an answer that its receiver has not taken.
    package func takeBack(_ path: String) { threads.submit { [folder] _ in folder.takeBack(path) } }

    /// Deletes what an app has fetched.
    package func remove(_ app: BundleID) {
        let entries = state.withLock { $0.cache?.removeAll(of: app) ?? [] }
        threads.submit { [folder] _ in
            folder.drop(entries)
            folder.remove(app)
        }
    }

    /// Fetches, and gives up when the time is up.
    private func fetch(_ request: MediaRequest, for app: BundleID, rules: MediaFetch.Rules) async -> MediaAnswer {
        await withTaskGroup(of: MediaAnswer?.self) { group in
            group.addTask { await self.work(request, for: app, rules: rules) }
            group.addTask { [parts] in
                try? await parts.sleep(Self.timeLimit)
                return nil
            }
            var answer: MediaAnswer?
            while answer == nil, let next = await group.next() {
                answer = next
                group.cancelAll()
            }
            return answer ?? .failed(MediaFailure(.tooSlow, "the time was up"))
        }
    }

    /// Waits for the delay of the request, then performs the directives of ``MediaFetch``.
    private func work(_ request: MediaRequest, for app: BundleID, rules: MediaFetch.Rules) async -> MediaAnswer {
        let delay = FetchJitter.delay(over: request.spread, random: parts.random())
        if delay > .zero { try? await parts.sleep(delay) }
        do {
            try await open()
            let key = MediaCache.Key(app: app, url: request.url)
            let kept = state.withLock { $0.cache?.find(key) }
            var fetch = try MediaFetch(
                request, rules: rules, kept: kept.map { MediaFetch.Kept(source: $0.source, validator: $0.validator) })
            var run = MediaRun(parts: parts, folder: folder, threads: threads)
            let outcome = await run.follow(&fetch)
            defer { run.file?.drop() }
            switch outcome {
            case .failed(let failure): return .failed(failure)
            case .kept:
                guard let kept else { return .failed(MediaFailure(.noRoom, "the file that was kept is gone")) }
                return .file(path: try await onDisk { [folder] in try folder.hand(kept: kept, to: app) })
            case .received(let file, let kind, let validator, let source):
                guard let validator else {
                    return .file(path: try await onDisk { [folder] in try folder.hand(file, kind: kind, to: app) })
                }
                return .file(path: try await keep(file, kind: kind, validator: validator, source: source, under: key))
            }
        } catch let failure as MediaFailure {
            return .failed(failure)
        } catch _ where Task.isCancelled {
            return .failed(MediaFailure(.tooSlow, "the time was up"))
        } catch {
            return .failed(MediaFailure(.noRoom, "\(error)"))
        }
    }

    /// Keeps a file in the cache, and returns a copy.
    private func keep(
        _ file: ReceivedFile, kind: FetchedMediaKind, validator: MediaValidator, source: MediaURL,
        under key: MediaCache.Key
    ) async throws -> String {
        let size = file.size
        let entry = try await onDisk { [folder] in
            MediaCache.Entry(
                key: key, name: try folder.keep(file), size: size, kind: kind, source: source.description,
                validator: validator)
        }
        let handed = try await onDisk { [folder] in
            folder.writeEntry(entry)
            return try folder.hand(kept: entry, to: key.app)
        }
        let gone = state.withLock { $0.cache?.insert(entry) ?? [entry] }
        try await onDisk { [folder] in folder.drop(gone) }
        return handed
    }

    /// Reads what is kept, once.
    private func open() async throws {
        guard state.withLock({ $0.cache == nil }) else { return }
        try await onDisk { [self] in
            // Within the lock: the second caller waits for the first.
            try state.withLock { state in
                guard state.cache == nil else { return }
                var cache = MediaCache()
                for entry in try folder.open() { folder.drop(cache.insert(entry)) }
                state.cache = cache
            }
        }
    }

    private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}
