import NIOPosix
import Platform
import PushCore
import Synchronization

/// The other servers with the same files.
package final class MediaPeers: Sendable {
    let register: MediaRegister
    let copies: MediaCopies
    /// The objects of files in a bucket; `nil` for servers that have the files alone.
    let objects: MediaObjects?
    /// The copies under way: several requests for a file wait for one.
    private let copying = Mutex<[MediaName: Task<Void, any Error>]>([:])
    /// Until when the register is not asked about files that this server has.
    private let isAwayUntil = Mutex<ContinuousClock.Instant?>(nil)
    /// Copying waits for other servers, and must not take the threads that read the disk.
    private let threads = NIOThreadPool(numberOfThreads: 4)
    /// Nor must changes, which wait for the register; the ends of uploads wait for the bucket besides.
    let changeThreads = NIOThreadPool(numberOfThreads: 4)
    let uploadThreads = NIOThreadPool(numberOfThreads: MediaStore.arrivals)

    /// The time after which the register counts as away, and for which it is left alone then.
    private static let timeout = Duration.seconds(1)

    /// Creates an instance from its properties.
    package init(register: MediaRegister, copies: MediaCopies, objects: MediaObjects? = nil) {
        self.register = register
        self.copies = copies
        self.objects = objects
        for pool in [threads, changeThreads, uploadThreads] { pool.start() }
    }

    /// The register does not answer.
    struct NoAnswer: Error, CustomStringConvertible {
        let description = "the register of files does not answer"
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
