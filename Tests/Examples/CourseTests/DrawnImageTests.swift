import Foundation
import Testing
import UIKit

@testable import Course

@Test func `a drawn picture is a PNG file with its size and checksums`() throws {
    let data = DrawnImage(width: 3, height: 2, colour: .init(255, 0, 0)).pngData
    #expect(UIImage(data: data)?.pngData() == data)
    // Length, name, content and checksum, by another program.
    #expect(
        Array(data.dropFirst(8).prefix(25)) == [
            0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 3, 0, 0, 0, 2, 8, 2, 0, 0, 0, 0x12, 0x16, 0xF1, 0x4D,
        ])
    #expect(Array(data.suffix(12)) == [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
}

@Test func `what is drawn beyond the edges is left out`() {
    var image = DrawnImage(width: 2, height: 2, colour: .init(0, 0, 0))
    image.fill(-5..<1, 1..<9, .init(9, 9, 9))
    var other = DrawnImage(width: 2, height: 2, colour: .init(0, 0, 0))
    other.fill(0..<1, 1..<2, .init(9, 9, 9))
    #expect(image.pngData == other.pngData)
    image.fill(7..<9, 7..<9, .init(1, 1, 1))
    #expect(image.pngData == other.pngData)
}

@Test(arguments: [(0, 0, 1, 1), (-1, 5, 1, 5), (9999, 2, 1024, 2)])
func `a picture has a size that fits`(width: Int, height: Int, shownWidth: Int, shownHeight: Int) {
    let image = DrawnImage(width: width, height: height, colour: .init(0, 0, 0))
    #expect(image.width == shownWidth && image.height == shownHeight)
}

@Test func `a picture of more bytes than one block holds has several`() {
    let data = DrawnImage(width: 200, height: 200, colour: .init(1, 2, 3)).pngData
    // 200 rows of 601 bytes are two blocks of at most 65,535 bytes.
    #expect(data.count == 8 + 25 + 12 + 2 + 120_200 + 2 * 5 + 4 + 12)
}
