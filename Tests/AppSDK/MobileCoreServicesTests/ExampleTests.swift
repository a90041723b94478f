import AldabaTestSupport
import Foundation
import Testing

struct ExampleTests {
    @Test func `the page's example is the code that compiles here`() throws {
        let example = try PageExample("PictureAttachment.swift")
        #expect(example.shown == example.compiled)
    }

    @Test func `the example's attachment is a picture by the hint alone`() throws {
        let folder = try TemporaryFolder()
        let file = URL(fileURLWithPath: folder.path("picture"))
        try Data([0x89, 0x50, 0x4E, 0x47]).write(to: file)
        #expect(try pictureAttachment(file: file).type == "public.png")
    }
}
