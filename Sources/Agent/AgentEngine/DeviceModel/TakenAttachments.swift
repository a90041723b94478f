import AgentProtocol
import Foundation

/// Why an attachment is not taken; codes are `UNError.Code`'s.
package struct AttachmentError: Error, Hashable, Sendable {
    /// `UNError.Code`'s raw value.
    package var code: Int
    /// The fault, the file that has it, and what is expected instead.
    package var message: String

    /// The file cannot be opened, or is not the app's.
    package static func invalidURL(_ why: String) -> Self { Self(code: 100, message: why) }
    /// The kind of the file cannot be attached.
    package static func unrecognizedType(_ why: String) -> Self { Self(code: 101, message: why) }
    /// The file is too large, or there are too many.
    package static func invalidFileSize(_ why: String) -> Self { Self(code: 102, message: why) }
    /// The file cannot be copied into the store.
    package static func moveFailed(_ why: String) -> Self { Self(code: 104, message: why) }
    /// The file is not of the type that it is said to be.
    package static func corrupt(_ why: String) -> Self { Self(code: 105, message: why) }
}

/// The files of a notification that were taken into the agent's folder.
package struct TakenAttachments: Sendable {
    /// The attachments with their new paths.
    package var attachments: [NotificationAttachment] = []
    /// The files that they were copied from, as the system knows them, and that have no other place here.
    package var sources: [String] = []

    /// No files, unless some are given.
    package init(attachments: [NotificationAttachment] = [], sources: [String] = []) {
        self.attachments = attachments
        self.sources = sources
    }
}

/// The still image that is made of a film.
package enum StillImage {
    /// The text that a still's path has behind the path of its film.
    package static let pathSuffix = ".still.png"

    /// The MIME type of an attachment that moves, by the ending that the attachment store gives its path; `nil` for others.
    package static func sourceType(of path: String) -> String? {
        switch URL(fileURLWithPath: path).pathExtension {
        case "gif": "image/gif"
        case "mp4": "video/mp4"
        case "mpg": "video/mpeg"
        case "avi": "video/x-msvideo"
        default: nil
        }
    }
}
