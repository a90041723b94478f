internal import CJPEG
internal import CPNG
import Foundation

/// A decoded picture: 8 bits each of red, green, blue and opacity for each pixel, row by row.
struct Pixels: Hashable, Sendable {
    /// The most pixels that are decoded, 67 million: 256 MiB.
    static let limit = 1 << 26

    var width: Int
    var height: Int
    var bytes: [UInt8]

    /// Width and height in the order of the file, where both libraries can hold the picture.
    static func isDecodable(width: Int, height: Int) -> Bool {
        width > 0 && height > 0 && width <= limit && height <= limit / width
    }

    /// A file of another format begins otherwise, and gives `nil`; so does a damaged one.
    static func png(_ data: Data) -> Pixels? {
        withPNG(data) { image in
            var pixels = [UInt8](repeating: 0, count: Int(image.pointee.width) * Int(image.pointee.height) * 4)
            guard png_image_finish_read(image, nil, &pixels, 0, nil) != 0 else { return nil }
            return Pixels(width: Int(image.pointee.width), height: Int(image.pointee.height), bytes: pixels)
        }
    }

    /// Reads the head of a PNG file.
    static func pngSize(_ data: Data) -> (width: Int, height: Int)? {
        withPNG(data) { (Int($0.pointee.width), Int($0.pointee.height)) }
    }

    /// Begins to read. The library keeps the address of its state, so that must not move.
    private static func withPNG<Result>(_ data: Data, _ read: (UnsafeMutablePointer<png_image>) -> Result?) -> Result? {
        var state = png_image()
        return withUnsafeMutablePointer(to: &state) { image in
            aldaba_png_begin(image)
            defer { png_image_free(image) }
            return data.withUnsafeBytes { bytes in
                guard png_image_begin_read_from_memory(image, bytes.baseAddress, bytes.count) != 0,
                    isDecodable(width: Int(image.pointee.width), height: Int(image.pointee.height))
                else { return nil }
                // Reading the head has set the file's own format.
                image.pointee.format = aldaba_png_format
                return read(image)
            }
        }
    }

    /// Reads the head of a JPEG file.
    static func jpegSize(_ data: Data) -> (width: Int, height: Int)? {
        var (width, height): (UInt32, UInt32) = (0, 0)
        let status = data.withUnsafeBytes { bytes in
            aldaba_jpeg_read(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &width, &height, nil)
        }
        guard status == 0, isDecodable(width: Int(width), height: Int(height)) else { return nil }
        return (Int(width), Int(height))
    }

    /// A file that breaks off gives what came of it. One of four inks gives `nil`, as do other formats.
    static func jpeg(_ data: Data) -> Pixels? {
        guard let size = jpegSize(data) else { return nil }
        var (width, height) = (UInt32(size.width), UInt32(size.height))
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        let status = data.withUnsafeBytes { bytes in
            aldaba_jpeg_read(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &width, &height, &pixels)
        }
        return status == 0 ? Pixels(width: size.width, height: size.height, bytes: pixels) : nil
    }

    /// The picture as a PNG file.
    func pngData() -> Data? {
        var state = png_image()
        return withUnsafeMutablePointer(to: &state) { image in
            aldaba_png_begin(image)
            defer { png_image_free(image) }
            (image.pointee.width, image.pointee.height) = (png_uint_32(width), png_uint_32(height))
            var count = aldaba_png_largest_file(image)
            var file = Data(count: Int(count))
            let isWritten = file.withUnsafeMutableBytes {
                png_image_write_to_memory(image, $0.baseAddress, &count, 0, bytes, 0, nil) != 0
            }
            return isWritten ? file.prefix(Int(count)) : nil
        }
    }

    /// The picture as a JPEG file, on white.
    ///
    /// - Parameter quality: From 0 to 1.
    func jpegData(quality: Double) -> Data? {
        var count = 0
        let percent = Int32((min(max(quality, 0), 1) * 99).rounded()) + 1
        let file = aldaba_jpeg_write(onWhite.bytes, UInt32(width), UInt32(height), percent, &count)
        guard let file else { return nil }
        return Data(bytesNoCopy: file, count: count, deallocator: .free)
    }

    /// The picture in front of white: JPEG has no opacity.
    private var onWhite: Pixels {
        var result = self
        for pixel in stride(from: 0, to: bytes.count, by: 4) where bytes[pixel + 3] < 255 {
            let opacity = Int(bytes[pixel + 3])
            for part in pixel..<pixel + 3 {
                result.bytes[part] = UInt8((Int(bytes[part]) * opacity + 255 * (255 - opacity) + 127) / 255)
            }
            result.bytes[pixel + 3] = 255
        }
        return result
    }
}
