import Foundation
import Platform
import PushCore
import Synchronization

/// A file that was accepted.
package struct AcceptedMedia: Hashable, Sendable {
    /// The stored file.
    package var file: MediaFile
    /// Whether the team had not uploaded these bytes before.
    package var isNew: Bool
}

/// An upload of a file under way. An unfinished one is deleted when its last reference is released.
///
/// Its methods block for the disk and must be called one after the other.
package final class MediaUpload: Sendable {
    private let store: MediaStore
    private let team: TeamID?
    private let name: MediaName
    private let began: Timestamp
    private let place: String
    private let target: Descriptor
    private let state = Mutex(State())

    private struct State {
        var intake = MediaIntake()
        var reserved: Int64 = 0
        var isFinished = false
    }

    /// The maximum time for an upload, in milliseconds.
    static let timeout: Int64 = 600_000

    init(_ store: MediaStore, name: MediaName, team: TeamID?, at now: Timestamp) throws {
        self.store = store
        self.team = team
        self.name = name
        began = now
        place = store.folder.placeWhileArriving(name)
        target = try MediaFolder.create(place)
    }

    deinit {
        let (reserved, isFinished) = state.withLock { ($0.reserved, $0.isFinished) }
        if !isFinished { unlink(place) }
        store.releaseReservation(reserved, of: team)
    }

    /// Writes the next bytes to the disk.
    ///
    /// - Throws: ``MediaRejection``, which is reported to the provider, or the system's error.
    package func take(_ bytes: UnsafeRawBufferPointer) throws {
        guard store.now.milliseconds(since: began) <= Self.timeout else { throw MediaRejection.slow }
        try state.withLock { state in
            try state.intake.take(bytes)
            try store.reserve(Int64(bytes.count), for: team)
            state.reserved += Int64(bytes.count)
            try MediaFolder.write(bytes, to: target.number, path: place)
        }
    }

    /// Finishes the upload: the file is stored, or the lifetime of the team's file with the same bytes is extended.
    ///
    /// - Returns: The file, which is on the disk.
    /// - Throws: The same errors as ``take(_:)``.
    package func finish() throws -> AcceptedMedia {
        try state.withLock { state in
            let verdict = try state.intake.finish()
            try MediaFolder.sync(target.number, place)
            let taken = try store.keep(verdict, named: name, team: team, from: place)
            state.isFinished = taken.isNew
            // What is kept counts as kept from now on.
            store.release(state.reserved, of: team)
            state.reserved = 0
            return taken
        }
    }
}
