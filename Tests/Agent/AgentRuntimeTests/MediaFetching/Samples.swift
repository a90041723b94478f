import Foundation

/// Files as they begin, and bytes to fill them.
enum Samples {
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1]
    static let gif: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x2C, 0, 0]
    static let wave: [UInt8] = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8)
    static let mp3: [UInt8] = Array("ID3".utf8) + [UInt8](repeating: 0, count: 13)
    static let mp4: [UInt8] = [0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0]
    static let m4a: [UInt8] = [0, 0, 0, 24] + Array("ftypM4A ".utf8) + [0, 0, 2, 0]
    static let page: [UInt8] = Array("<!DOCTYPE html><title>404</title>".utf8)
    static let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0, count: 100)
}
