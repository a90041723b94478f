import Foundation

/// A picture, as the bytes of its file: PNG, JPEG or GIF. It is decoded when another format is asked for.
///
/// Guarantees: a picture of more than 67 million pixels, and one whose head cannot be read, is no picture. Each format is
/// converted into PNG and JPEG: a JPEG upright by the camera's position in Exif, a GIF's first frame.
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

        /// Width and height of an upright picture; `nil` for a head that cannot be read.
        func size(_ data: Data) -> (width: Int, height: Int)? {
            switch self {
            case .png: return Pixels.pngSize(data)
            case .jpeg:
                guard let size = Pixels.jpegSize(data) else { return nil }
                return PictureTurn(jpeg: data).swapsSides ? (size.height, size.width) : size
            case .gif:
                let head = [UInt8](data.prefix(10))
                guard head.count == 10 else { return nil }
                return (Int(head[7]) << 8 | Int(head[6]), Int(head[9]) << 8 | Int(head[8]))
            }
        }
    }

    private let bytes: Data
    private let format: Format
    /// Width and height in points: pixels by ``scale``.
    public let size: CGSize
    /// The pixels of a point: 1, or as the file's name says (`@2x`).
    public let scale: CGFloat

    /// A picture of these bytes; `nil` for bytes that are not those of a PNG, JPEG or GIF file.
    public convenience init?(data: Data) { self.init(data: data, scale: 1) }

    /// A picture of these bytes, of which so many pixels are a point; `nil` as for ``init(data:)``.
    public init?(data: Data, scale: CGFloat) {
        guard let format = Format.allCases.first(where: { data.starts(with: $0.opening) }),
            let pixels = format.size(data), scale > 0
        else { return nil }
        bytes = data
        self.format = format
        self.scale = scale
        size = CGSize(width: CGFloat(pixels.width) / scale, height: CGFloat(pixels.height) / scale)
    }

    /// A picture of this file; `nil` where it cannot be read, and as for its bytes.
    public convenience init?(contentsOfFile path: String) {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return nil }
        self.init(data: data, scale: PictureFiles.scale(ofFile: path))
    }

    /// A picture of the app's, by the name of its file or of its set in a catalogue; the ending may be left out.
    ///
    /// It is looked for in the folder `resources` of the app's manifest, in the bundle, and in the bundles that SwiftPM
    /// makes beside the program. `nil` where none of them has it.
    public convenience init?(named name: String) {
        guard let path = PictureFiles.ofApp.path(named: name) else { return nil }
        self.init(contentsOfFile: path)
    }

    /// The picture as a PNG file: its own bytes where it came as one; `nil` for a damaged picture.
    open func pngData() -> Data? { format == .png ? bytes : pixels?.pngData() }

    /// The picture as a JPEG file, on white; `nil` for a damaged picture, and beyond 65,500 pixels a side.
    ///
    /// - Parameter compressionQuality: From 0, the smallest file, to 1, the best. A JPEG that is wanted at 1 keeps its
    ///   bytes.
    open func jpegData(compressionQuality: CGFloat) -> Data? {
        format == .jpeg && compressionQuality >= 1 ? bytes : pixels?.jpegData(quality: Double(compressionQuality))
    }

    private var pixels: Pixels? {
        switch format {
        case .png: Pixels.png(bytes)
        case .jpeg: Pixels.jpeg(bytes).map(PictureTurn(jpeg: bytes).upright)
        case .gif: Pixels.gif(bytes)
        }
    }
}
