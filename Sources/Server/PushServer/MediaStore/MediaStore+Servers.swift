import Foundation
import NIOPosix
import Platform
import PushCore
import Synchronization

/// A file is known, and the servers that have it cannot be reached now.
package struct MediaUnavailableError: Error, CustomStringConvertible {
    /// The reason, for whoever asks for the file.
    package let description = "the servers that have the file cannot be reached now; try again in a while"
}

/// Files that other servers have.
extension MediaStore {
    private static let adopted = 500

    /// Ends an upload; see ``MediaUpload/finish()``.
    package func finish(_ upload: MediaUpload) async throws -> AcceptedMedia {
        try await (shared?.uploadThreads ?? .singleton).runIfActive { try upload.finish() }
    }

    /// Runs a closure that blocks for the disk, and for the register where there are other servers.
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
    /// - Throws: ``MediaUnavailableError``; the error of the register, or of the disk.
    package func find(_ addressName: String) async throws -> OpenMedia? {
        guard let (name, _) = MediaName.read(inAddress: addressName) else { return nil }
        if let shared { try await fetch(name, shared) }
        return try await NIOThreadPool.singleton.runIfActive { try self.open(addressName) }
    }

    private func fetch(_ name: MediaName, _ shared: MediaPeers) async throws {
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
        do { try await shared.copy(name) { try self.copy(found, shared) } } catch let error as MediaUnavailableError {
            // It may have been deleted meanwhile.
            if try await shared.register.file(name) != nil { throw error }
        }
    }

    /// Copies a file from another server.
    private func copy(_ found: MediaRegister.Located, _ shared: MediaPeers) throws {
        let name = found.file.name
        guard index.withLock({ $0.entry(name) }) == nil else { return }
        let place = folder.placeForCopy(name)
        let target = try MediaFolder.create(place)
        // The descriptor is closed with its last use.
        try withExtendedLifetime(target) {
            do {
                guard try copy(found, to: target, at: place, from: shared) else { throw MediaUnavailableError() }
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
        _ found: MediaRegister.Located, to target: Descriptor, at place: String, from shared: MediaPeers
    ) throws -> Bool {
        let file = found.file
        if let objects = shared.objects, let key = found.object,
            try copy(file, to: target, at: place, { try objects.read(key, bytes: file.bytes, write: $0) })
        {
            return true
        }
        // What the bucket does not give, the servers may.
        return try copy(file, to: target, at: place) { try shared.copies.copy(file, from: found.nodes, write: $0) }
    }

    /// Writes what is read of a file elsewhere, from the beginning.
    ///
    /// - Returns: Whether it is the whole file.
    private func copy(
        _ file: MediaFile, to target: Descriptor, at place: String, _ read: (([UInt8]) throws -> Void) throws -> Bool
    ) throws -> Bool {
        guard ftruncate(target.number, 0) == 0, lseek(target.number, 0, SEEK_SET) == 0 else {
            throw MachineError(what: place, code: errno)
        }
        var intake = MediaIntake()
        do {
            let isWhole = try read { bytes in
                try bytes.withUnsafeBytes { buffer in
                    try intake.take(buffer)
                    try MediaFolder.write(buffer, to: target.number, path: place)
                }
            }
            return try isWhole && intake.finish().digest == file.digest
        } catch is MediaRejection {
            // The bytes are others.
            return false
        }
    }

    /// Records that this server has a file too; a file that was deleted meanwhile is removed. Where that cannot be recorded, the
    /// next sweep tries again.
    func note(_ name: MediaName, _ shared: MediaPeers) {
        do {
            if try !shared.register.addCopy(of: name) { remove([name]) }
            unrecorded.withLock { _ = $0.remove(name) }
        } catch {
            unrecorded.withLock { _ = $0.insert(name) }
        }
    }
}
