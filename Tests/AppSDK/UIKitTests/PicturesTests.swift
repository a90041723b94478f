import AldabaTestSupport
import Foundation
import Testing

@testable import UIKit

struct PicturesTests {
    /// A baseline JPEG of 64 pixels a side, whose colour is red 240, green 29, blue 100 (ITU-T T.871); no library wrote
    /// it.
    private static let jpeg =
        Data(
            base64Encoded: """
                /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB
                AQEBAQEBAQEBAQEBAQH/wAARCABAAEADAREAAhEAAxEA/8QAHwAAAAAMAAAAAAAAAAAAAAAAAAECAwQFBgcICQoL/8QAFBABAAAA
                AAAAAAAAAAAAAAAAAP/aAAwDAQACAAMAAD8AgfArIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/
                /9k=
                """, options: .ignoreUnknownCharacters) ?? Data()

    /// Red, and half opaque blue, one above the other.
    private static let drawn = Pixels(width: 1, height: 2, bytes: [255, 0, 0, 255, 0, 0, 255, 128])

    /// Whether the first pixel has about these parts.
    private func begins(_ pixels: Pixels?, _ parts: [Int]) -> Bool {
        guard let pixels, pixels.bytes.count >= 4 else { return false }
        return zip(pixels.bytes, parts).allSatisfy { abs(Int($0) - $1) <= 3 }
    }

    @Test func `a JPEG becomes a PNG of the same colour, and keeps its bytes at the best quality`() throws {
        let image = try #require(UIImage(data: Self.jpeg))
        let png = try #require(image.pngData())
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let pixels = Pixels.png(png)
        #expect(pixels?.width == 64 && pixels?.height == 64 && begins(pixels, [240, 29, 100, 255]))
        #expect(UIImage(data: png)?.size == CGSize(width: 64, height: 64) && image.scale == 1)
        #expect(image.jpegData(compressionQuality: 1) == Self.jpeg)
        #expect(begins(Pixels.jpeg(try #require(image.jpegData(compressionQuality: 0.9))), [240, 29, 100, 255]))
    }

    @Test func `a PNG becomes a JPEG on white, smaller where the quality is lower`() throws {
        let png = try #require(Self.drawn.pngData())
        #expect(Pixels.png(png) == Self.drawn)
        let image = try #require(UIImage(data: png))
        #expect(image.pngData() == png)
        let jpeg = try #require(image.jpegData(compressionQuality: 1))
        let lower = try #require(image.jpegData(compressionQuality: 0))
        #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF]) && lower.count < jpeg.count)
        let whole = try #require(Pixels(width: 64, height: 64, bytes: .init(repeating: 128, count: 16_384)).pngData())
        let grey = try #require(UIImage(data: whole)?.jpegData(compressionQuality: 0.9))
        #expect(begins(Pixels.jpeg(grey), [191, 191, 191, 255]))
    }

    @Test(
        arguments: [
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1], [0xFF, 0xD8, 0xFF, 0xE0], [0x47, 0x49, 0x46, 0x38],
            [0x3C, 0x68, 0x74, 0x6D, 0x6C], [0xFF, 0xD8], [],
        ] as [[UInt8]])
    func `bytes without the head of a picture are none`(bytes: [UInt8]) {
        #expect(UIImage(data: Data(bytes)) == nil)
    }

    @Test func `a damaged picture gives no file`() throws {
        let png = try #require(Self.drawn.pngData())
        #expect(UIImage(data: png.prefix(45))?.jpegData(compressionQuality: 0.5) == nil)
        let gif = try #require(UIImage(data: Data("GIF89a".utf8) + [3, 0, 0, 1]))
        #expect(gif.size == CGSize(width: 3, height: 256) && gif.pngData() == nil)
        #expect(gif.jpegData(compressionQuality: 1) == nil)
        #expect(!Pixels.isDecodable(width: 10_000, height: 10_000) && Pixels.isDecodable(width: 8_192, height: 8_192))
    }

    /// A GIF of two colours, 3 by 2 pixels, in codes of three bits that begin anew before each pixel.
    private func gif(flags: UInt8 = 0, control: [UInt8] = [], pixels: [Int] = [0, 1, 0, 1, 1, 0]) -> Data {
        let codes = pixels.flatMap { [4, $0] } + [5]
        var (packed, bits): ([UInt8], Int) = ([], 0)
        for code in codes {
            for bit in 0..<3 {
                if bits % 8 == 0 { packed.append(0) }
                if code >> bit & 1 == 1 { packed[bits / 8] |= 1 << UInt8(bits % 8) }
                bits += 1
            }
        }
        let head: [UInt8] = [3, 0, 2, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 3, 0, 2, 0, flags, 2, UInt8(packed.count)]
        return Data("GIF89a".utf8) + Data(head + control + frame + packed + [0, 0x3B])
    }

    @Test func `a GIF becomes a PNG of its first frame`() throws {
        let (red, blue, none): ([UInt8], [UInt8], [UInt8]) = ([255, 0, 0, 255], [0, 0, 255, 255], [0, 0, 0, 0])
        let png = try #require(UIImage(data: gif())?.pngData())
        #expect(Pixels.png(png)?.bytes == [red, blue, red, blue, blue, red].flatMap { $0 })
        let clear = try #require(Pixels.gif(gif(control: [0x21, 0xF9, 4, 1, 0, 0, 1, 0])))
        #expect(clear.bytes == [red, none, red, none, none, red].flatMap { $0 })
        #expect(Pixels.gif(gif(flags: 0x40))?.bytes == Pixels.gif(gif())?.bytes)
        #expect(Pixels.gif(gif(pixels: [0, 1])) == nil && Pixels.gif(gif().dropLast(6)) == nil)
    }

    /// Codes that grow: 4 by 4 pixels of one colour, in one code of one pixel and five of ever more.
    @Test func `codes of a GIF that stand for several pixels are read`() throws {
        // Clear, 0, 6 (two), 7 (three), 8 (four; from here on of four bits), 9 (five), 0, end.
        var (packed, bits): ([UInt8], Int) = ([], 0)
        for (code, width) in [(4, 3), (0, 3), (6, 3), (7, 3), (8, 4), (9, 4), (0, 4), (5, 4)] {
            for bit in 0..<width {
                if bits % 8 == 0 { packed.append(0) }
                if code >> bit & 1 == 1 { packed[bits / 8] |= 1 << UInt8(bits % 8) }
                bits += 1
            }
        }
        let head: [UInt8] = [4, 0, 4, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0x80, 9, 8, 7, 1, 1, 1, 2]
        let file = Data("GIF87a".utf8) + Data(head + [UInt8(packed.count)] + packed + [0, 0x3B])
        #expect(Pixels.gif(file)?.bytes == Array(repeating: [9, 8, 7, 255], count: 16).flatMap { $0 })
    }

    /// Three pixels, A above B, C beside A: the numbers of an upright picture, row by row, for each of the eight
    /// positions (Exif 2.32, "Orientation").
    @Test(arguments: [
        (1, 2, [1, 2, 3, 4]), (2, 2, [2, 1, 4, 3]), (3, 2, [4, 3, 2, 1]), (4, 2, [3, 4, 1, 2]),
        (5, 2, [1, 3, 2, 4]), (6, 2, [3, 1, 4, 2]), (7, 2, [4, 2, 3, 1]), (8, 2, [2, 4, 1, 3]),
    ])
    func `a picture is turned as the camera was held`(position: Int, width: Int, upright: [UInt8]) {
        let stored = Pixels(width: 2, height: 2, bytes: [1, 2, 3, 4].flatMap { [$0, $0, $0, $0] })
        let turned = PictureTurn(value: position).upright(stored)
        #expect(stride(from: 0, to: 16, by: 4).map { turned.bytes[$0] } == upright && turned.width == width)
    }

    @Test(
        arguments: [
            ([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0], 6),
            ([0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0], 8),
            ([0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0], 1),
            ([0x4D, 0x4D, 0, 42, 0xFF, 0xFF, 0xFF, 0xFF], 1), ([0x4D], 1),
        ] as [([UInt8], Int)])
    func `the camera's position is read from Exif`(block: [UInt8], position: Int) {
        let exif = Array("Exif\0\0".utf8) + block
        let segment = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
        let file = Self.jpeg.prefix(2) + segment + Self.jpeg.dropFirst(2)
        #expect(PictureTurn(jpeg: file).value == position && UIImage(data: file)?.pngData() != nil)
    }

    @Test func `a picture is found by its name, with its ending or without, or as a set of a catalogue`() throws {
        let folder = try TemporaryFolder()
        let set = "Assets.xcassets/tray.imageset"
        try FileManager.default.createDirectory(atPath: folder.path(set), withIntermediateDirectories: true)
        for name in ["logo.png", "logo.jpg", "photo@2x.jpg", "\(set)/tray.png"] {
            try Self.jpeg.write(to: URL(fileURLWithPath: folder.path(name)))
        }
        try Data(#"{"images": [{"idiom": "universal"}, {"filename": "tray.png", "scale": "2x"}]}"#.utf8)
            .write(to: URL(fileURLWithPath: folder.path("\(set)/Contents.json")))
        let files = PictureFiles(folders: [folder.path("none"), folder.url.path])
        for (name, file) in [
            ("logo", "logo.png"), ("logo.jpg", "logo.jpg"), ("photo", "photo@2x.jpg"), ("tray", "\(set)/tray.png"),
        ] {
            #expect(files.path(named: name) == folder.path(file))
        }
        for name in ["", "other", "../\(folder.url.lastPathComponent)/logo"] { #expect(files.path(named: name) == nil) }
        #expect(UIImage(contentsOfFile: folder.path("photo@2x.jpg"))?.size == CGSize(width: 32, height: 32))
        #expect(UIImage(contentsOfFile: folder.path("gone.png")) == nil)
    }
}
