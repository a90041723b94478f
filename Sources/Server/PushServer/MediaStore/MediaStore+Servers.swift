import Foundation
import Logging
import Metrics
import NIOPosix
import Networking
import Platform
import PushCore
import Synchronization

/// The other servers with the same files.
package final class SharedMedia: Sendable {
    let register: MediaRegister
    let copies: MediaCopies
    /// The object store that has the files too; `nil` for servers that have them alone.
    let bucket: (any MediaBucket)?
    private let logger: Logger
    private let metrics: [MediaBucketAction: [Bool: Counter]]
    /// The copies under way: several requests for a file wait for one.
    private let copying = Mutex<[MediaName: Task<Void, any Error>]>([:])
    /// Until when the register is not asked about files that this server has.
    private let isAwayUntil = Mutex<ContinuousClock.Instant?>(nil)
    /// Copying waits for other servers, and must not take the threads that read the disk.
    private let threads = NIOThreadPool(numberOfThreads: 4)
    /// Nor must changes, which wait for the register and the bucket.
    fileprivate let changeThreads = NIOThreadPool(numberOfThreads: MediaStore.arrivals)

    /// The time after which the register counts as away, and for which it is left alone then.
    private static let timeout = Duration.seconds(1)

    /// Creates an instance from its properties.
    ///
    /// - Parameter logger: Receives the bucket's failures.
    package init(
        register: MediaRegister, copies: MediaCopies, bucket: (any MediaBucket)? = nil,
        logger: Logger = Logger(label: "aldaba.media")
    ) {
        self.register = register
        self.copies = copies
        self.bucket = bucket
        self.logger = logger
        func counter(_ action: MediaBucketAction, _ outcome: String) -> Counter {
            Counter(
                label: "aldaba_media_bucket_requests_total",
                dimensions: [("action", action.rawValue), ("outcome", outcome)])
        }
        metrics = Dictionary(
            uniqueKeysWithValues: bucket == nil
                ? []
                : MediaBucketAction.allCases.map { ($0, [true: counter($0, "done"), false: counter($0, "failed")]) })
        threads.start()
        changeThreads.start()
    }

    /// The register does not answer.
    struct NoAnswer: Error, CustomStringConvertible {
        let description = "the register of files does not answer"
    }

    /// Uses the bucket, where there is one, and counts the outcome.
    ///
    /// - Returns: `nil` where there is none, or it failed.
    private func use<Result>(
        for action: MediaBucketAction, _ key: String, _ body: (any MediaBucket) throws -> Result
    ) -> Result? {
        guard let bucket else { return nil }
        do {
            let result = try body(bucket)
            metrics[action]?[true]?.increment()
            return result
        } catch {
            metrics[action]?[false]?.increment()
            logger.warning(
                "the bucket of files failed", metadata: [LogKey.error: "\(error)", LogKey.path: "\(key)"])
            return nil
        }
    }

    /// Stores an upload in the bucket, where there is one.
    ///
    /// - Throws: ``MediaRejection/bucket`` where that fails: what is accepted outlives this server.
    func storeObject(_ file: MediaFile, from path: String, at now: Timestamp) throws {
        guard bucket != nil else { return }
        try register.beginObject(file, at: now)
        let stored: Void? = use(for: .put, file.addressName) {
            try $0.put(path, as: file.addressName, bytes: file.bytes, sha256: file.digest)
        }
        guard stored != nil else { throw MediaRejection.bucket }
    }

    /// Reads a file's object in pieces, where there is one.
    func readObject(_ file: MediaFile, _ write: ([UInt8]) throws -> Void) {
        _ = use(for: .get, file.addressName) {
            try $0.get(file.addressName, bytes: file.bytes, write: write)
        }
    }

    /// Deletes the objects that no file needs any more. Those that cannot be deleted are tried again with the next sweep.
    func deleteUnusedObjects(at now: Timestamp) throws {
        for key in try register.unusedObjects(at: now) {
            let deleted: Void? = use(for: .delete, key) { try $0.delete(key) }
            guard deleted != nil else { return }
            try register.objectDeleted(key)
        }
    }

    /// Looks a file up.
    ///
    /// - Parameter isKept: Whether this server has the file, and can serve it without an answer.
    func locate(_ name: MediaName, isKept: Bool) async throws -> MediaRegister.Located? {
        guard isKept else { return try await register.file(name) }
        if let until = isAwayUntil.withLock({ $0 }), until > .now { throw NoAnswer() }
        return try await withCheckedThrowingContinuation { continuation in
            let answer = FirstAnswer(continuation)
            Task { [register] in
                do { answer.resume(with: .success(try await register.file(name))) } catch {
                    answer.resume(with: .failure(error))
                }
            }
            Task { [self] in
                // Ends with its time alone: nothing cancels it.
                try? await Task.sleep(for: Self.timeout)
                if answer.resume(with: .failure(NoAnswer())) { isAwayUntil.withLock { $0 = .now + Self.timeout } }
            }
        }
    }

    /// Runs the copying of a file, once for all who ask for it meanwhile.
    func copy(_ name: MediaName, _ body: @escaping @Sendable () throws -> Void) async throws {
        let task = copying.withLock { copying in
            if let known = copying[name] { return known }
            let task = Task { [threads, weak self] in
                defer { self?.copying.withLock { $0[name] = nil } }
                try await threads.runIfActive(body)
            }
            copying[name] = task
            return task
        }
        try await task.value
    }
}

/// A continuation that the first of several answers resumes.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

    init(_ continuation: CheckedContinuation<Value, any Error>) { self.continuation = Mutex(continuation) }

    /// - Returns: Whether this was the first answer.
    @discardableResult
    func resume(with result: Result<Value, any Error>) -> Bool {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(with: result)
        return continuation != nil
    }
}

/// A file is known, and the servers that have it cannot be reached now.
package struct MediaOutOfReach: Error, CustomStringConvertible {
    /// The reason, for whoever asks for the file.
    package let description = "the servers that have the file cannot be reached now; try again in a while"
}

/// Files that other servers have.
extension MediaStore {
    private static let adopted = 500

    /// Runs a closure that blocks for the disk, and for the register and the bucket where there are other servers.
    package func runBlocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await (shared?.changeThreads ?? .singleton).runIfActive(body)
    }

    /// Records the files of the folder that are not recorded for all servers yet, and removes those that were deleted.
    func adopt() throws {
        guard let shared else { return }
        let files = index.withLock { index in index.allNames.compactMap { index.file($0, at: now) } }
        for start in stride(from: 0, to: files.count, by: Self.adopted) {
            remove(try shared.register.adopt(Array(files[start..<min(start + Self.adopted, files.count)])))
        }
    }

    /// Opens the file of a URL's last component, `NAME.ENDING`, which is copied from another server where this one does not have
    /// it. While the register cannot be read, this server's own files are served.
    ///
    /// - Returns: `nil` where there is no such file, or it has expired.
    /// - Throws: ``MediaOutOfReach``; the error of the register, or of the disk.
    package func find(_ addressName: String) async throws -> OpenMedia? {
        guard let (name, _) = MediaName.read(inAddress: addressName) else { return nil }
        if let shared { try await fetch(name, shared) }
        return try await NIOThreadPool.singleton.runIfActive { try self.open(addressName) }
    }

    private func fetch(_ name: MediaName, _ shared: SharedMedia) async throws {
        let isKept = index.withLock { $0.entry(name) != nil }
        let found: MediaRegister.Located?
        do { found = try await shared.locate(name, isKept: isKept) } catch {
            guard isKept else { throw error }
            return
        }
        guard let found, found.file.expires > now else {
            return try await NIOThreadPool.singleton.runIfActive { self.change.withLock { _ in self.remove([name]) } }
        }
        guard !isKept else { return index.withLock { $0.extend(name, to: found.file.expires) } }
        do { try await shared.copy(name) { try self.copy(found, shared) } } catch let error as MediaOutOfReach {
            // It may have been deleted meanwhile.
            if try await shared.register.file(name) != nil { throw error }
        }
    }

    /// Copies a file from another server.
    private func copy(_ found: MediaRegister.Located, _ shared: SharedMedia) throws {
        let name = found.file.name
        guard index.withLock({ $0.entry(name) }) == nil else { return }
        let place = folder.placeForCopy(name)
        let target = try MediaFolder.create(place)
        // The descriptor is closed with its last use.
        try withExtendedLifetime(target) {
            do {
                guard try copy(found, to: target, at: place, from: shared) else { throw MediaOutOfReach() }
                try MediaFolder.sync(target.number, place)
                try change.withLock { _ in try insert(found.file, from: place) }
            } catch {
                unlink(place)
                throw error
            }
        }
        change.withLock { _ in note(name, shared) }
    }

    private func copy(
        _ found: MediaRegister.Located, to target: Descriptor, at place: String, from shared: SharedMedia
    ) throws -> Bool {
        var intake = MediaIntake()
        let number = target.number
        func write(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes { buffer in
                try intake.take(buffer)
                try MediaFolder.write(buffer, to: number, path: place)
            }
        }
        shared.readObject(found.file, write)
        // What the bucket does not have, the servers may.
        let isWhole = try shared.copies.copy(found.file, from: found.nodes, at: intake.bytes, write)
        return try isWhole && intake.finish().digest == found.file.digest
    }

    /// Records that this server has a file too; a file that was deleted meanwhile is removed. Where that cannot be recorded, the
    /// next sweep tries again.
    func note(_ name: MediaName, _ shared: SharedMedia) {
        do {
            if try !shared.register.addCopy(of: name) { remove([name]) }
            unrecorded.withLock { _ = $0.remove(name) }
        } catch {
            unrecorded.withLock { _ = $0.insert(name) }
        }
    }
}
