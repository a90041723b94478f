import AgentProtocol
import Foundation
import Platform
import PushCore
import Synchronization

/// Stores the files of notifications; see this module's README for its guarantees.
package final class MediaStore: Sendable {
    /// The operator's settings.
    package struct Settings: Sendable {
        /// The maximum size of all files together, in bytes.
        package var quota: Int64
        /// The time for which a file is kept after its last upload, in milliseconds.
        package var lifetime: Int64
        /// The maximum number of files.
        var countLimit = 100_000
        /// The highest number of bytes that the files of one team take.
        package var teamQuota: Int64

        /// Brings them together; those below one count as one.
        ///
        /// - Parameter teamQuota: Without it half of the quota, so that one team leaves as much to the others.
        package init(quota: Int64, teamQuota: Int64? = nil, lifetime: Int64) {
            self.quota = max(1, quota)
            self.teamQuota = max(1, teamQuota ?? quota / 2)
            self.lifetime = max(1, lifetime)
        }
    }

    /// The maximum number of concurrent uploads.
    static let arrivals = 8
    /// The highest number of files of one team that arrive at once.
    static let teamArrivals = arrivals / 2

    let folder: MediaFolder
    private let settings: Settings
    /// The other servers with the same files; `nil` for a server that is alone.
    let shared: MediaPeers?
    /// The number of the last deletion that is known, by any server.
    private let lastRemoval = Mutex<Int64>(0)
    /// Copies that could not be recorded yet.
    let unrecorded = Mutex<Set<MediaName>>([])
    private let clock: @Sendable () -> Timestamp
    private let makeName: @Sendable () -> MediaName
    let index: Mutex<MediaIndex>
    private let arriving = Mutex(Arriving())
    /// Held by whoever changes files and index together; readers need only the index.
    let change = Mutex<Void>(())
    private let metrics = MediaMetrics()

    /// The files that arrive now.
    private struct Arriving {
        var count = 0
        var byTeam: [TeamID: Int] = [:]
    }

    /// Opens a folder, which is made where it is missing, and reads what is kept there.
    ///
    /// - Parameters:
    ///   - folder: The folder's path; it must contain nothing else.
    ///   - shared: The other servers with the same files; `nil` for a server that is alone.
    ///   - clock: The present time.
    ///   - makeName: A source of unguessable names.
    /// - Throws: The system's error about the folder.
    package init(
        folder: String, settings: Settings, shared: MediaPeers? = nil, clock: @escaping @Sendable () -> Timestamp,
        makeName: @escaping @Sendable () -> MediaName = {
            var generator = SystemRandomNumberGenerator()
            return MediaName(using: &generator)
        }
    ) throws {
        self.folder = try MediaFolder(folder)
        self.settings = settings
        self.shared = shared
        self.clock = clock
        self.makeName = makeName
        var found = MediaIndex(
            quota: settings.quota, countLimit: settings.countLimit, teamQuota: settings.teamQuota,
            isShared: shared != nil)
        for file in try self.folder.load() { found.insert(file) }
        metrics.holds(found)
        index = Mutex(found)
        shared?.copies.serve { [weak self] in try self?.openKept($0) }
        try adopt()
    }

    var now: Timestamp { clock() }

    // MARK: Uploads

    /// Begins an upload.
    ///
    /// - Parameters:
    ///   - team: The owner's team; `nil` where teams are not authenticated.
    ///   - announced: The announced size in bytes, if any.
    /// - Throws: ``MediaRejection``, or the system's error.
    package func begin(team: TeamID?, announced: Int64?) throws -> MediaUpload {
        if let announced {
            guard announced <= MediaKind.largest else { throw MediaRejection.tooLarge(nil) }
            if let shared { try shared.register.require(max(0, announced), for: team, settings) }
            // Space is reserved as the bytes arrive; an upload that cannot fit is refused before.
            try index.withLock { index in
                try index.reserve(max(0, announced), for: team)
                index.release(max(0, announced), of: team)
            }
        }
        try arriving.withLock { arriving in
            guard arriving.count < Self.arrivals else { throw MediaRejection.busy }
            if let team {
                let own = arriving.byTeam[team, default: 0]
                guard own < Self.teamArrivals else { throw MediaRejection.teamBusy(Self.teamArrivals) }
                arriving.byTeam[team] = own + 1
            }
            arriving.count += 1
        }
        do {
            return try MediaUpload(self, name: makeName(), team: team, at: now)
        } catch {
            releaseReservation(0, of: team)
            throw error
        }
    }

    /// Releases what an upload has reserved, however it ended.
    func releaseReservation(_ reserved: Int64, of team: TeamID?) {
        arriving.withLock { arriving in
            arriving.count -= 1
            if let team, let own = arriving.byTeam[team] { arriving.byTeam[team] = own > 1 ? own - 1 : nil }
        }
        release(reserved, of: team)
    }

    func release(_ bytes: Int64, of team: TeamID?) { index.withLock { $0.release(bytes, of: team) } }

    func reserve(_ bytes: Int64, for team: TeamID?) throws(MediaRejection) {
        try index.withLock { index throws(MediaRejection) in try index.reserve(bytes, for: team) }
    }

    func keep(
        _ verdict: MediaIntake.Verdict, named name: MediaName, team: TeamID?, from arrived: String
    ) throws -> AcceptedMedia {
        let now = now
        let expires = now.adding(milliseconds: settings.lifetime)
        let file = MediaFile(
            name: name, format: verdict.format, bytes: verdict.bytes, digest: verdict.digest, team: team, made: now,
            expires: expires)
        let object = try shared?.objects?.store(file, from: arrived, settings, at: now)
        return try change.withLock { _ in
            if let shared { return try storeShared(file, object: object, from: arrived, by: shared) }
            if var known = index.withLock({ $0.file(digest: verdict.digest, team: team, at: now) }) {
                // The expiration is never made earlier: the setting may have become shorter.
                known.expires = max(known.expires, expires)
                try folder.write(known)
                index.withLock { $0.insert(known) }
                return AcceptedMedia(file: known, isNew: false)
            }
            try insert(file, from: arrived)
            return AcceptedMedia(file: file, isNew: true)
        }
    }

    /// Keeps a file that other servers may have too: the register says under which name.
    private func storeShared(
        _ file: MediaFile, object: String?, from arrived: String, by shared: MediaPeers
    ) throws -> AcceptedMedia {
        try insert(file, from: arrived)
        let kept: MediaFile
        do {
            kept = try shared.register.add(file, object: object, needsObject: shared.objects != nil, settings)
        } catch {
            remove([file.name])
            // Where this fails, and where nobody knows whether the file was recorded, the object has a day.
            if error is MediaRejection, let object { try? shared.register.dropObject(object) }
            throw error
        }
        guard kept.name != file.name else { return AcceptedMedia(file: kept, isNew: true) }
        if index.withLock({ $0.entry(kept.name) }) == nil {
            // No other server has to be asked for these bytes.
            try insert(kept, from: folder.place(of: file.name))
            note(kept.name, shared)
        } else {
            index.withLock { $0.extend(kept.name, to: kept.expires) }
        }
        remove([file.name])
        return AcceptedMedia(file: kept, isNew: false)
    }

    func insert(_ file: MediaFile, from arrived: String) throws {
        do { try folder.keep(file, from: arrived) } catch {
            folder.remove(file.name)
            throw error
        }
        index.withLock {
            $0.insert(file)
            metrics.holds($0)
        }
    }

    // MARK: Downloads

    /// Opens the file of a URL's last component, `NAME.ENDING`, where this server has it; `nil` where it does not, or it has
    /// expired.
    package func open(_ addressName: String) throws -> OpenMedia? {
        guard let (name, format) = MediaName.read(inAddress: addressName), let media = try openKept(name),
            media.file.format == format
        else { return nil }
        return media
    }

    /// Opens a file that this server has.
    func openKept(_ name: MediaName) throws -> OpenMedia? {
        guard let file = index.withLock({ $0.file(name, at: now) }) else { return nil }
        let descriptor = Foundation.open(folder.place(of: name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        // The file was deleted since the index was read.
        if descriptor < 0, errno == ENOENT { return nil }
        return OpenMedia(file, try Descriptor(descriptor, "file \(name)"))
    }

    /// The files in the order of their names, at most `limit`, after a name; a team's, or all (`nil`).
    package func list(team: TeamID?, after: MediaName?, limit: Int) throws -> [MediaFile] {
        if let shared { return try shared.register.list(team: team, after: after, limit: max(0, limit), at: now) }
        return index.withLock { $0.list(team: team, after: after, limit: max(0, limit), at: now) }
    }

    /// Deletes a file; another team's file than the caller's (`nil`: any) is treated as missing.
    ///
    /// - Returns: The file; `nil` when there is none with that name.
    package func delete(_ name: MediaName, team: TeamID?) throws -> MediaFile? {
        if let shared {
            let removed = try change.withLock { _ in
                let removed = try shared.register.remove(name, team: team)
                if removed != nil { remove([name]) }
                return removed
            }
            // The file is deleted; where this fails, a sweep does it.
            if let object = removed?.object { _ = try? shared.objects?.delete(object, at: now) }
            return removed?.file
        }
        return change.withLock { _ in
            guard let file = index.withLock({ $0.file(name, at: now) }), team == nil || file.team == team else {
                return nil
            }
            remove([name])
            return file
        }
    }

    /// Deletes expired files; to be called now and then.
    package func sweep() throws {
        try change.withLock { _ in
            let expired = index.withLock { $0.expired(at: now) }
            guard let shared else { return remove(expired) }
            // Another server may have made a file live longer.
            let expiries = try shared.register.expiries(of: expired)
            for name in expired {
                if let expires = expiries[name], expires > now, var file = index.withLock({ $0.entry(name) }) {
                    file.expires = expires
                    try folder.write(file)
                    index.withLock { $0.insert(file) }
                } else {
                    remove([name])
                }
            }
            let last = lastRemoval.withLock { $0 }
            let removed = try shared.register.sweep(after: last, at: now)
            remove(removed.names)
            lastRemoval.withLock { $0 = removed.last }
            for name in unrecorded.withLock({ $0 }) { note(name, shared) }
        }
        try shared?.objects?.deleteUnused(at: now)
    }

    func remove(_ names: [MediaName]) {
        for name in names {
            index.withLock { _ = $0.remove(name) }
            folder.remove(name)
        }
        index.withLock { metrics.holds($0) }
    }

    // MARK: Counting

    /// Counts an outcome of a request for a file.
    package func count(_ answer: MediaAnswer) { metrics.answered(answer) }

    /// Counts bytes that were sent.
    package func countServed(_ bytes: Int64, of file: MediaFile) { metrics.served(bytes, of: file.format.kind) }

    /// Counts an upload that was accepted, new or known.
    package func countUpload(isNew: Bool) { metrics.uploaded(isNew ? "taken" : "known") }

    /// Counts an upload that was not accepted: a refusal, or one that was interrupted (`nil`).
    package func countUpload(refused refusal: MediaRejection?) { metrics.uploaded(refusal?.code ?? "broken") }
}
