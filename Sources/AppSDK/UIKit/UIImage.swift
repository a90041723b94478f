import Foundation

/// A picture, as the bytes of its file. Nothing is decoded or painted here; a notification's picture is attached by
/// its file.
///
/// Sendable is unchecked because the class is open; it has constants only, of value types.
open class UIImage: NSObject, @unchecked Sendable {
    private enum Format: CaseIterable {
        case png, jpeg, gif

        var opening: [UInt8] {
            switch self {
            case .png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            case .jpeg: [0xFF, 0xD8, 0xFF]
            case .gif: [0x47, 0x49, 0x46, 0x38]
            }
        }
    }

    private let bytes: Data
    private let format: Format

    /// A picture of these bytes; `nil` for bytes that do not begin like a PNG, JPEG or GIF file.
    public init?(data: Data) {
        guard let format = Format.allCases.first(where: { data.starts(with: $0.opening) }) else { return nil }
        bytes = data
        self.format = format
    }

    /// A picture of this file; `nil` where it cannot be read, and as for its bytes.
    public convenience init?(contentsOfFile path: String) {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return nil }
        self.init(data: data)
    }

    /// Always `nil`: an app on Linux has no catalogue of pictures.
    public convenience init?(named name: String) { return nil }

    /// The bytes of a PNG file; `nil` for a picture that came in another format, since nothing is encoded here.
    open func pngData() -> Data? { format == .png ? bytes : nil }

    /// The bytes of a JPEG file, as they came; `nil` for a picture that came in another format.
    open func jpegData(compressionQuality: CGFloat) -> Data? { format == .jpeg ? bytes : nil }
}
