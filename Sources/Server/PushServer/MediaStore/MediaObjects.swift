import Logging
import Metrics
import Networking
import PushCore
import Synchronization

/// The objects of files in a bucket, besides the files that each server has. Every call blocks.
package final class MediaObjects: Sendable {
    private let bucket: any MediaBucket
    private let register: MediaRegister
    private let logger: Logger
    private let done: [MediaBucketAction: Counter]
    private let failed: [MediaBucketAction: Counter]
    /// Until when files are not read from the bucket, which did not answer.
    private let isAwayUntil = Mutex<ContinuousClock.Instant?>(nil)

    /// The time for which files are read from servers alone after the bucket did not answer.
    private static let pause = Duration.seconds(5)
    /// The time after which the deletion of an object is tried again, in milliseconds.
    private static let retryPause: Int64 = 3_600_000
    /// The maximum number of objects that one sweep deletes, and of its failures.
    private static let sweepLimit = (objects: 200, failures: 3)

    /// Uses a bucket.
    ///
    /// - Parameter logger: Receives the bucket's failures.
    package init(_ bucket: any MediaBucket, register: MediaRegister, logger: Logger) {
        self.bucket = bucket
        self.register = register
        self.logger = logger
        func counters(_ outcome: String) -> [MediaBucketAction: Counter] {
            Dictionary(
                uniqueKeysWithValues: MediaBucketAction.allCases.map {
                    let labels = [("action", $0.rawValue), ("outcome", outcome)]
                    return ($0, Counter(label: "aldaba_media_bucket_requests_total", dimensions: labels))
                })
        }
        done = counters("done")
        failed = counters("failed")
    }

    /// Stores an upload as an object, unless its team has a file with the same bytes that is one.
    ///
    /// - Returns: The object's key; `nil` where the team has such a file.
    /// - Throws: ``MediaRejection``, ``MediaRejection/bucket`` where the bucket fails; the error of the register.
    func store(
        _ file: MediaFile, from path: String, _ settings: MediaStore.Settings, at now: Timestamp
    ) throws -> String? {
        guard try register.needsObject(file, settings) else { return nil }
        let key = file.addressName
        try register.beginObject(key, at: now)
        do { try bucket.put(path, as: key, bytes: file.bytes, sha256: file.digest) } catch {
            handle(error, of: .put, key)
            throw MediaRejection.bucket
        }
        done[.put]?.increment()
        return key
    }

    /// Reads an object in pieces.
    ///
    /// - Returns: Whether it was read to its end. Where the bucket fails, it was not.
    /// - Throws: The error of `write`.
    func read(_ key: String, bytes: Int64, write: ([UInt8]) throws -> Void) throws -> Bool {
        if let until = isAwayUntil.withLock({ $0 }), until > .now { return false }
        var fault: (any Error)?
        do {
            let isThere = try bucket.get(key, bytes: bytes) { piece in
                do { try write(piece) } catch {
                    fault = error
                    throw error
                }
            }
            done[.get]?.increment()
            return isThere
        } catch {
            if let fault { throw fault }
            handle(error, of: .get, key)
            return false
        }
    }

    /// Deletes an object that no file needs any more. Where that fails, a sweep tries again after an hour.
    ///
    /// - Returns: Whether it is deleted.
    @discardableResult
    func delete(_ key: String, at now: Timestamp) throws -> Bool {
        do { try bucket.delete(key) } catch {
            handle(error, of: .delete, key)
            try register.setUnused(key, dueAt: now.adding(milliseconds: Self.retryPause))
            return false
        }
        done[.delete]?.increment()
        try register.objectDeleted(key)
        return true
    }

    /// Deletes some of the objects that no file needs any more.
    func deleteUnused(at now: Timestamp) throws {
        var failures = 0
        for key in try register.unusedObjects(at: now, limit: Self.sweepLimit.objects) {
            if try !delete(key, at: now) { failures += 1 }
            guard failures < Self.sweepLimit.failures else { return }
        }
    }

    private func handle(_ error: any Error, of action: MediaBucketAction, _ key: String) {
        failed[action]?.increment()
        let isAnswer = (error as? S3Bucket.Failure)?.isAnswer ?? false
        if !isAnswer { isAwayUntil.withLock { $0 = .now + Self.pause } }
        // Whoever knows the whole name can fetch the file.
        logger.warning(
            "the bucket of files failed",
            metadata: [LogKey.error: "\(action.rawValue): \(error)", LogKey.path: "\(key.prefix(8))…"])
    }
}
