import AgentEngine
import AgentProtocol
import Foundation
import Platform
import PushCore

/// The files of notifications: checked by their content, and moved to where no app can change them any more.
///
/// Guarantees: an accepted file is a regular file of this user's and no link. Its kind and size are those of Apple's
/// page "UNNotificationAttachment": audio up to 5 MB, image 10 MB, movie 50 MB. The files of one app do not exceed a
/// quota.
package struct AttachmentStore: Sendable {
    /// Bytes that the files of one app may take.
    package static let quota: Int64 = 200 << 20
    /// Files of one notification.
    static let countLimit = 16

    private let folder: String

    /// Makes nothing yet: the folder comes with the first file, with mode 0700.
    ///
    /// - Parameter folder: Holds a folder for each app.
    package init(folder: String) {
        self.folder = folder
    }

    /// The kind of media that a file's first bytes show.
    package typealias Kind = MediaKind

    /// Reads what a file is; `nil` for a kind that cannot be attached.
    package static func kind(of head: [UInt8]) -> (kind: Kind, ending: String)? {
        MediaFormat(head: head).map { ($0.kind, $0.ending) }
    }

    /// Takes the files of one notification; on a fault no file is taken, and every file is where it was.
    ///
    /// The originals stay in place, since a request whose storing failed may be repeated. See ``release(_:)``.
    ///
    /// - Parameters:
    ///   - bundle: The files that the app came with, which stay in place.
    ///   - named: The files that notifications name, read when the quota is used up: other files of the app are
    ///     deleted. Where they are not known, no file is deleted.
    package func take(
        _ attachments: [NotificationAttachment], of app: BundleID, bundle: AppBundle? = nil,
        named: () throws -> Set<String> = { [] }
    ) throws(AttachmentError) -> TakenAttachments {
        guard attachments.count <= Self.countLimit else {
            throw .invalidFileSize("\(attachments.count) attachments; at most \(Self.countLimit) are allowed")
        }
        var taken = TakenAttachments()
        do {
            for attachment in attachments { try copy(attachment, of: app, bundle, named, into: &taken) }
        } catch {
            drop(taken.attachments)
            throw error
        }
        return taken
    }

    /// Deletes what was taken for nothing.
    package func drop(_ taken: [NotificationAttachment]) { for attachment in taken { unlink(attachment.path) } }

    /// Once what was taken is named in the store, the files that it came from leave their places, as with Apple; files
    /// that the app came with are not among them.
    package func release(_ sources: [String]) { for path in sources { unlink(path) } }

    /// Deletes all files of an app; an invalid app name has none.
    package func remove(_ app: BundleID) {
        guard Topic.hasShape(app.rawValue) else { return }
        try? FileManager.default.removeItem(atPath: "\(folder)/\(app)")
    }

    private func copy(
        _ attachment: NotificationAttachment, of app: BundleID, _ bundle: AppBundle?,
        _ named: () throws -> Set<String>, into taken: inout TakenAttachments
    ) throws(AttachmentError) {
        // Not through a link, and without waiting for a pipe's other end.
        let source = open(attachment.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard source >= 0 else {
            throw .invalidURL("\(attachment.path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .invalidURL("\(attachment.path) is no regular file")
        }
        // The path is resolved through all links. An app may attach its own kept files again, but not those of others.
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(source)")
        guard let path else { throw .invalidURL("\(attachment.path) has no place in the file system") }
        let own = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        let isKept = path.hasPrefix("\(own)/")
        guard !isKept || path.hasPrefix("\(own)/\(app)/") else {
            throw .invalidURL("\(attachment.path) belongs to another app")
        }
        let kind = try check(attachment, source, size: Int64(status.st_size))
        let now = taken.attachments.map(\.path)
        let place = try place(of: app, size: Int64(status.st_size), inUse: { try named().union(now) })
        var kept = attachment
        kept.path = "\(place)/\(UUID().uuidString.lowercased()).\(kind)"
        try write(source, to: kept.path, limit: Int64(status.st_size))
        taken.attachments.append(kept)
        if !isKept, bundle?.contains(path) != true { taken.sources.append(path) }
    }

    /// - Returns: The ending of the file's name.
    private func check(
        _ attachment: NotificationAttachment, _ source: Int32, size: Int64
    ) throws(AttachmentError) -> String {
        var head = [UInt8](repeating: 0, count: MediaFormat.headLength)
        let count = pread(source, &head, head.count, 0)
        guard let (kind, ending) = Self.kind(of: Array(head.prefix(max(0, count)))) else {
            throw .unrecognizedType("\(attachment.path) holds no picture, sound or movie that can be attached")
        }
        guard size <= kind.limit else {
            throw .invalidFileSize(
                "\(attachment.path) has \(size) bytes; of \(kind.rawValue) at most \(kind.limit) are allowed")
        }
        if let claimed = Self.kind(ofType: attachment.type), claimed != kind {
            throw .corrupt("\(attachment.path) is said to be \(attachment.type) and holds \(kind.rawValue)")
        }
        return ending
    }

    /// The kind of media of a uniform type identifier; `nil` where the identifier leaves it open.
    package static func kind(ofType type: String) -> Kind? {
        switch type {
        case "public.image", "public.png", "public.jpeg", "com.compuserve.gif": .image
        case "public.audio", "public.aiff-audio", "public.mp3", "public.mpeg-4-audio", "com.microsoft.waveform-audio",
            "com.apple.m4a-audio":
            .audio
        case "public.movie", "public.mpeg", "public.mpeg-2-video", "public.mpeg-4", "public.avi": .movie
        default: nil
        }
    }

    private func place(of app: BundleID, size: Int64, inUse: () throws -> Set<String>) throws(AttachmentError) -> String
    {
        let place = "\(folder)/\(app)"
        do {
            try PrivateFolder.prepare(folder, shut: true)
            try PrivateFolder.prepare(place, shut: true)
        } catch {
            throw .moveFailed("\(AgentStartError(error))")
        }
        func used() -> Int64 { files(in: place).reduce(Int64(0)) { $0 + $1.size } }
        if used() + size > Self.quota {
            let kept: Set<String>
            do {
                kept = try inUse()
            } catch {
                throw .moveFailed("which files are in use is not known: \(error)")
            }
            for file in files(in: place) where !kept.contains(Self.base(ofStill: file.path)) { unlink(file.path) }
        }
        let used = used()
        guard used + size <= Self.quota else {
            throw .moveFailed("the attachments of this app take \(used) bytes; \(Self.quota) are allowed in all")
        }
        return place
    }

    private func write(_ source: Int32, to path: String, limit: Int64) throws(AttachmentError) {
        let target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw .moveFailed("\(path): \(String(cString: strerror(errno)))") }
        defer { close(target) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var rest = limit
        while rest > 0 {
            let count = read(source, &buffer, min(buffer.count, Int(rest)))
            guard count > 0, Glibc.write(target, buffer, count) == count else {
                unlink(path)
                throw .moveFailed("\(path) could not be written whole")
            }
            rest -= Int64(count)
        }
    }

    // MARK: Files that are not needed any more

    private func files(in place: String) -> [(path: String, size: Int64, changed: Date)] {
        ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).compactMap { name in
            let path = "\(place)/\(name)"
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular
            else { return nil }
            return (
                path, (attributes[.size] as? NSNumber)?.int64Value ?? 0,
                attributes[.modificationDate] as? Date ?? .distantPast
            )
        }
    }

    private static func base(ofStill path: String) -> String {
        path.hasSuffix(StillImage.pathSuffix) ? String(path.dropLast(StillImage.pathSuffix.count)) : path
    }

    /// Deletes the files that no notification names, and that have been here for an hour.
    package func sweep(keeping paths: Set<String>, now: Date) {
        for app in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            for file in files(in: "\(folder)/\(app)")
            where !paths.contains(file.path) && !paths.contains(Self.base(ofStill: file.path))
                && now.timeIntervalSince(file.changed) > 3600
            {
                unlink(file.path)
            }
        }
    }
}
