import Foundation
import Platform
import PushCore

/// The other servers with the same files.
package struct SharedMedia: Sendable {
    let register: MediaRegister
    let copies: MediaCopies

    /// Creates an instance from its properties.
    package init(register: MediaRegister, copies: MediaCopies) {
        self.register = register
        self.copies = copies
    }
}

/// Files that other servers have.
extension MediaStore {
    private static let adopted = 500

    /// Records the files of the folder that are not recorded for all servers yet, and removes those that were deleted.
    func adopt() throws {
        guard let shared else { return }
        let files = index.withLock { index in index.allNames.compactMap { index.file($0, at: now) } }
        for start in stride(from: 0, to: files.count, by: Self.adopted) {
            remove(try shared.register.adopt(Array(files[start..<min(start + Self.adopted, files.count)])))
        }
    }

    /// Copies a file from another server where this one does not have it, and removes one that is deleted.
    ///
    /// While the register cannot be read, this server's own files are served.
    func fetch(_ name: MediaName, _ shared: SharedMedia) throws {
        let isKept = index.withLock { $0.entry(name) != nil }
        let found: MediaRegister.Located?
        do { found = try shared.register.file(name) } catch {
            guard isKept else { throw error }
            return
        }
        guard let found, found.file.expires > now else { return change.withLock { _ in remove([name]) } }
        guard !isKept else { return index.withLock { $0.extend(name, to: found.file.expires) } }
        let place = folder.placeForCopy(name)
        let target = try MediaFolder.create(place)
        // The descriptor is closed with its last use.
        try withExtendedLifetime(target) {
            do {
                guard try copy(found, to: target, place, shared) else {
                    unlink(place)
                    return
                }
                try MediaFolder.sync(target.number, place)
                try change.withLock { _ in
                    if index.withLock({ $0.entry(name) }) == nil {
                        try insert(found.file, from: place)
                    } else {
                        unlink(place)
                    }
                }
                try shared.register.addCopy(of: name)
            } catch {
                unlink(place)
                throw error
            }
        }
    }

    private func copy(
        _ found: MediaRegister.Located, to target: Descriptor, _ place: String, _ shared: SharedMedia
    ) throws -> Bool {
        var intake = MediaIntake()
        let number = target.number
        let isWhole = try shared.copies.copy(found.file, from: found.nodes) { bytes in
            try bytes.withUnsafeBytes { buffer in
                try intake.take(buffer)
                try MediaFolder.write(buffer, to: number, path: place)
            }
        }
        return try isWhole && intake.finish().digest == found.file.digest
    }
}
