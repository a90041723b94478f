import Foundation
import Testing

@testable import UserNotifications

final class AttachmentTests {
    private let folder: URL

    init() throws {
        folder = URL(fileURLWithPath: NSTemporaryDirectory() + "aldaba-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func file(_ name: String) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try Data("not a picture".utf8).write(to: url)
        return url
    }

    @Test(arguments: [
        ("a.png", "public.png"), ("a.JPG", "public.jpeg"), ("a.jpeg", "public.jpeg"), ("a.gif", "com.compuserve.gif"),
        ("a.aiff", "public.aiff-audio"), ("a.wav", "com.microsoft.waveform-audio"), ("a.mp3", "public.mp3"),
        ("a.m4a", "com.apple.m4a-audio"), ("a.mpg", "public.mpeg"), ("a.mp4", "public.mpeg-4"),
        ("a.avi", "public.avi"),
    ])
    func `the type is that of the name's extension, whatever is in the file`(name: String, type: String) throws {
        let url = try file(name)
        let attachment = try UNNotificationAttachment(identifier: "id", url: url)
        #expect(attachment.type == type && attachment.identifier == "id")
        #expect(attachment.url.path == url.standardizedFileURL.path)
        #expect(try Data(contentsOf: attachment.url).count == 13)
    }

    @Test(arguments: ["Unknown", "picture.tmp", "photo.jpg?size=2"])
    func `where the name does not tell the type, the first bytes do`(name: String) throws {
        let url = try file(name)
        #expect(throws: UNError.self) { try UNNotificationAttachment(identifier: "id", url: url) }
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)).write(to: url)
        #expect(try UNNotificationAttachment(identifier: "id", url: url).type == "public.png")
    }

    @Test func `an attachment is read as on iOS, with leave that needs no asking`() throws {
        let url = try UNNotificationAttachment(identifier: "id", url: try file("a.png")).url
        #expect(url.startAccessingSecurityScopedResource())
        defer { url.stopAccessingSecurityScopedResource() }
        #expect(try !Data(contentsOf: url).isEmpty)
        #expect(URL(string: "https://example.com/a.png")?.startAccessingSecurityScopedResource() == false)
    }

    @Test func `a hint tells the type where the name does not, and an empty identifier is filled`() throws {
        let options = [UNNotificationAttachmentOptionsTypeHintKey: "public.jpeg"]
        let attachment = try UNNotificationAttachment(identifier: "", url: try file("download"), options: options)
        #expect(attachment.type == "public.jpeg" && !attachment.identifier.isEmpty)
    }

    @Test func `the options go to the agent, and what is no option is passed over`() throws {
        let url = try file("a.gif")
        let attachment = try UNNotificationAttachment(
            identifier: "a", url: url,
            options: [
                UNNotificationAttachmentOptionsThumbnailHiddenKey: true,
                UNNotificationAttachmentOptionsThumbnailClippingRectKey: [
                    "X": 0, "Y": 0.25, "Width": 0.5, "Height": 1,
                ],
                UNNotificationAttachmentOptionsThumbnailTimeKey: ["value": 600, "timescale": 400],
            ])
        #expect(attachment.wire.hidesThumbnail == true && attachment.wire.thumbnailTime == 1.5)
        #expect(attachment.wire.thumbnailClippingRect == [0, 0.25, 0.5, 1])
        let other = try UNNotificationAttachment(
            identifier: "a", url: url,
            options: [
                UNNotificationAttachmentOptionsThumbnailClippingRectKey: CGRect(x: 0, y: 0, width: 0.5, height: 0.5),
                UNNotificationAttachmentOptionsThumbnailTimeKey: 2, "x": 1,
            ])
        #expect(other.wire.thumbnailClippingRect == [0, 0, 0.5, 0.5] && other.wire.thumbnailTime == 2)
        let broken = try UNNotificationAttachment(
            identifier: "a", url: url,
            options: [
                UNNotificationAttachmentOptionsThumbnailClippingRectKey: CGRect(x: 0, y: 0, width: 9, height: 1),
                UNNotificationAttachmentOptionsThumbnailTimeKey: ["value": 1, "timescale": 0],
            ])
        #expect(broken.wire.thumbnailClippingRect == nil && broken.wire.thumbnailTime == nil)
    }

    @Test func `what is no readable file, and what nobody can tell, is refused`() throws {
        let wrong = [URL(string: "https://example.com/a.png"), folder, folder.appendingPathComponent("absent.png")]
        for url in wrong.compactMap({ $0 }) {
            #expect { try UNNotificationAttachment(identifier: "a", url: url) } throws: {
                ($0 as? UNError)?.code == .attachmentInvalidURL
            }
        }
        for name in ["a.webp", "a", "a.png.part"] {
            let url = try file(name)
            #expect { try UNNotificationAttachment(identifier: "a", url: url) } throws: {
                ($0 as? UNError)?.code == .attachmentUnrecognizedType
            }
        }
    }
}
