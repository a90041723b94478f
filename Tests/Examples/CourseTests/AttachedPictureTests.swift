import AldabaTestSupport
import Foundation
import Testing
import UIKit
import UserNotifications

@testable import Course

/// The attachment of a course of 2017, in Swift 4's names: a picture of the app's, found by its name and written where
/// the notification takes it from.
extension UNNotificationAttachment {
    @available(*, deprecated)
    fileprivate static func make(_ identifier: String, of image: UIImage, as ending: String)
        -> UNNotificationAttachment?
    {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(
            ProcessInfo.processInfo.globallyUniqueString, isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: nil)
            let file = folder.appendingPathComponent("\(identifier).\(ending)")
            let data = ending == "png" ? UIImagePNGRepresentation(image) : UIImageJPEGRepresentation(image, 0.8)
            guard let data = data else { return nil }
            try data.write(to: file)
            return try UNNotificationAttachment(identifier: identifier, url: file, options: nil)
        } catch {
            print("error: \(error.localizedDescription)")
        }
        return nil
    }
}

@Suite(.serialized) struct AttachedPictureTests {
    @available(*, deprecated)
    @Test(arguments: [("tray", "png", "public.png"), ("tray", "jpg", "public.jpeg"), ("photo", "png", "public.png")])
    func `the app's own picture is attached as PNG and as JPEG`(name: String, ending: String, type: String) throws {
        let folder = try TemporaryFolder()
        setenv("ALDABA_APP_RESOURCES", folder.url.path, 1)
        defer { unsetenv("ALDABA_APP_RESOURCES") }
        let drawn = DrawnImage(width: 40, height: 30, colour: .init(200, 40, 20)).pngData
        try drawn.write(to: folder.url.appendingPathComponent("tray.png"))
        try #require(UIImage(data: drawn)?.jpegData(compressionQuality: 0.9))
            .write(to: folder.url.appendingPathComponent("photo.jpg"))
        let image = try #require(UIImage(named: name))
        #expect(image.size == CGSize(width: 40, height: 30) && UIImage(named: "other") == nil)
        let attachment = try #require(UNNotificationAttachment.make(name, of: image, as: ending))
        defer { try? FileManager.default.removeItem(at: attachment.url.deletingLastPathComponent()) }
        let content = UNMutableNotificationContent()
        content.attachments = [attachment]
        #expect(attachment.identifier == name && attachment.type == type)
        #expect(UIImage(contentsOfFile: attachment.url.path)?.size == image.size)
    }
}
