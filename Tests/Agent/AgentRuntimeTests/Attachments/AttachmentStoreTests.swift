import AgentProtocol
import AldabaTestSupport
import Foundation
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct AttachmentStoreTests {
    private let folder: TemporaryFolder
    private let store: AttachmentStore
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [1, 2, 3, 4]

    init() throws {
        folder = try TemporaryFolder()
        store = AttachmentStore(folder: folder.path("store"))
    }

    private func file(_ bytes: [UInt8], size: Int? = nil, _ name: String = "file") throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
        if let size { truncate(folder.path(name), off_t(size)) }
        return folder.path(name)
    }

    private func attachment(_ path: String, type: String = "public.png") -> NotificationAttachment {
        NotificationAttachment(identifier: "a", path: path, type: type)
    }

    private func fault(_ attachment: NotificationAttachment) -> Int? {
        do throws(AttachmentError) {
            _ = try store.take([attachment], of: "app")
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a file is taken to where only this user can read it, and leaves its place when that is durable`() throws
    {
        let path = try file(Self.png)
        let kept = try #require(try store.take([attachment(path)], of: "app").attachments.first)
        #expect(FileManager.default.contents(atPath: kept.path) == Data(Self.png))
        #expect(FileManager.default.fileExists(atPath: path))
        store.release(try store.take([attachment(kept.path), attachment(path)], of: "app").sources)
        #expect(!FileManager.default.fileExists(atPath: path) && FileManager.default.fileExists(atPath: kept.path))
        let attributes = try FileManager.default.attributesOfItem(atPath: kept.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    static let places = [
        ("resources/deep/milk.png", true), ("bin/milk.png", true), ("bin/App_App.resources/milk.png", true),
        ("bin/App_App.bundle/Contents/milk.png", true), ("extension/milk.png", true), ("bin/cache/milk.png", false),
        ("resources.old/milk.png", false), ("milk.png", false),
    ]

    @Test(arguments: places)
    func `a file that the app came with stays in its place`(name: String, stays: Bool) throws {
        let path = folder.path(name)
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        var manifest = AppManifest(
            id: "com.example.todo", name: "Todo", team: "T", executable: folder.path("bin/todo"))
        manifest.resources = folder.path("resources")
        manifest.serviceExtension = ServiceExtensionManifest(
            id: "com.example.todo.Service", executable: folder.path("extension/service"))
        let file = attachment(try file(Self.png, name))
        store.release(try store.take([file], of: manifest.id, bundle: AppBundle(manifest)).sources)
        #expect(FileManager.default.fileExists(atPath: path) == stays)
        if stays { #expect(try store.take([file], of: manifest.id, bundle: AppBundle(manifest)).sources.isEmpty) }
    }

    static let faults: [(name: String, bytes: [UInt8], size: Int?, type: String, code: Int)] = [
        ("random bytes called png", [1, 2, 3, 4], nil, "public.png", 101),
        ("nothing", [], nil, "public.png", 101),
        ("a picture of 11 MB", png, 11 << 20, "public.png", 102),
        ("a sound of 6 MB", Array("RIFF....WAVE".utf8), 6 << 20, "com.microsoft.waveform-audio", 102),
        ("a movie of 51 MB", [0, 0, 0, 24] + Array("ftypisom".utf8), 51 << 20, "public.mpeg-4", 102),
        ("a picture called a movie", png, nil, "public.mpeg-4", 105),
    ]

    @Test(arguments: faults.indices)
    func `what is not what it should be stays where it is, with the code that says why`(index: Int) throws {
        let fault = Self.faults[index]
        let path = try file(fault.bytes, size: fault.size)
        #expect(self.fault(attachment(path, type: fault.type)) == fault.code, "\(fault.name)")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `links, folders, pipes and what is not there are no files`() throws {
        symlink(try file(Self.png), folder.path("link"))
        mkfifo(folder.path("pipe"), 0o600)
        for name in ["link", "pipe", "missing", ""] { #expect(fault(attachment(folder.path(name))) == 100) }
    }

    @Test func `when one of several is refused none is taken`() throws {
        let good = try file(Self.png)
        #expect(throws: AttachmentError.self) {
            try store.take([attachment(good), attachment(folder.path("missing"))], of: "app")
        }
        #expect(FileManager.default.fileExists(atPath: good))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("store/app")).isEmpty)
    }

    @Test func `a kept file may be attached again by its own app, and stays`() throws {
        let kept = try #require(try store.take([attachment(try file(Self.png))], of: "app").attachments.first)
        #expect(fault(attachment(kept.path)) == nil)
        #expect(FileManager.default.fileExists(atPath: kept.path))
        symlink(folder.path("store/app"), folder.path("linked"))
        let name = URL(fileURLWithPath: kept.path).lastPathComponent
        for path in [kept.path, folder.path("store/other/../app/\(name)"), folder.path("linked/\(name)")] {
            try FileManager.default.createDirectory(
                atPath: folder.path("store/other"), withIntermediateDirectories: true)
            do throws(AttachmentError) {
                _ = try store.take([attachment(path)], of: "other")
                Issue.record("another app took \(path)")
            } catch {
                #expect(error.code == 100)
            }
        }
        #expect(throws: AttachmentError.self) {
            try store.take(Array(repeating: attachment(kept.path), count: 17), of: "app")
        }
    }

    @Test func `an app's files take no more than the quota`() throws {
        let kept = try #require(try store.take([attachment(try file(Self.png))], of: "app").attachments.first)
        truncate(kept.path, off_t(AttachmentStore.quota))
        #expect(throws: AttachmentError.self) {
            try store.take([attachment(try file(Self.png))], of: "app", named: { [kept.path] })
        }
        #expect(try store.take([attachment(try file(Self.png))], of: "other").attachments.count == 1)
        // What no notification names makes room.
        #expect(try store.take([attachment(try file(Self.png))], of: "app").attachments.count == 1)
        #expect(!FileManager.default.fileExists(atPath: kept.path))
    }

    @Test func `what no notification names goes after an hour`() throws {
        let first = try #require(try store.take([attachment(try file(Self.png))], of: "app").attachments.first)
        let second = try #require(try store.take([attachment(try file(Self.png))], of: "app").attachments.first)
        let still = first.path + StillImage.pathSuffix
        #expect(FileManager.default.createFile(atPath: still, contents: nil))
        store.sweep(keeping: [first.path], now: Date())
        #expect(FileManager.default.fileExists(atPath: second.path))
        store.sweep(keeping: [first.path], now: Date().addingTimeInterval(3700))
        #expect(FileManager.default.fileExists(atPath: first.path))
        #expect(!FileManager.default.fileExists(atPath: second.path))
        #expect(FileManager.default.fileExists(atPath: still))
    }

    static let kinds: [(head: [UInt8], ending: String?)] = [
        (png, "png"), ([0xFF, 0xD8, 0xFF, 0xE0], "jpg"), (Array("GIF89a".utf8), "gif"),
        (Array("RIFF____WAVE".utf8), "wav"), (Array("RIFF____AVI ".utf8), "avi"), (Array("FORM____AIFF".utf8), "aiff"),
        (Array("____ftypM4A ".utf8), "m4a"), (Array("____ftypmp42".utf8), "mp4"), ([0, 0, 1, 0xBA], "mpg"),
        (Array("ID3".utf8), "mp3"), ([0xFF, 0xFB, 0x90, 0x64], "mp3"), (Array("RIFF____WEBP".utf8), nil), ([0xFF], nil),
        ([], nil),
        (Array("%PDF".utf8), nil), ([0x89], nil), ([0xFF, 0xFB], nil),
    ]

    @Test(arguments: kinds.indices)
    func `a file's first bytes say what it is`(index: Int) {
        #expect(AttachmentStore.kind(of: Self.kinds[index].head)?.ending == Self.kinds[index].ending)
    }
}
