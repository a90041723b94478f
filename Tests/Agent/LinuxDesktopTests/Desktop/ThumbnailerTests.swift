import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Testing

@testable import LinuxDesktop

/// Stills by the desktop's thumbnailers.
struct ThumbnailerTests {
    static let faulty = ["", "[Thumbnailer Entry]\nMimeType=image/gif\n", "[Desktop Entry]\nExec=true\n", "Exec=true"]

    @Test func `a thumbnailer's file says what it makes pictures of, and how it is called`() throws {
        let entry = try #require(
            Thumbnailer(
                "[Thumbnailer Entry]\nTryExec=make\nExec=make \"one word\" -s %s -i%i  %u %o 100%%\nMimeType=image/gif;video/mp4;\n"
            ))
        #expect(entry.types == ["image/gif", "video/mp4"])
        #expect(
            entry.arguments(input: "/a b.gif", output: "/o.png", size: 9)
                == ["make", "one word", "-s", "9", "-i/a b.gif", "file:///a%20b.gif", "/o.png", "100%"])
    }

    @Test(arguments: faulty)
    func `a file that names no program is none`(text: String) { #expect(Thumbnailer(text) == nil) }

    /// What the program does, and whether there is a still then.
    static let programs: [(script: String, isMade: Bool)] = [
        (#"printf '\211PNG\r\n\032\n\000\000\000\015IHDR' > "$2""#, true), (#"printf 'no picture' > "$2""#, false),
        ("exit 1", false),
        (":", false),
    ]

    @Test func `whether a still can be made is told by the file's ending alone`() async throws {
        let stills = ThumbnailerProgram(environment: ["XDG_DATA_HOME": "/nowhere", "XDG_DATA_DIRS": "/nowhere"])
        #expect(stills.canMake(of: "/movie.mp4") && stills.canMake(of: "/a.gif") && !stills.canMake(of: "/a.png"))
        let isMade = await withCheckedContinuation { continuation in
            stills.make(of: "/movie.mp4", at: "/nowhere/still.png") { continuation.resume(returning: $0) }
        }
        #expect(!isMade)
    }

    @Test(arguments: programs.indices)
    func `what a program makes counts when it is a picture`(index: Int) async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("thumbnailers"), withIntermediateDirectories: true)
        let program = folder.path("make")
        try installScript(Self.programs[index].script, at: program)
        try "[Thumbnailer Entry]\nExec=\(program) %i %o\nMimeType=video/mp4;\n".write(
            toFile: folder.path("thumbnailers/test.thumbnailer"), atomically: true, encoding: .utf8)
        let stills = ThumbnailerProgram(environment: ["XDG_DATA_HOME": folder.path(""), "XDG_DATA_DIRS": "/nowhere"])
        let still = folder.path("movie.mp4.still.png")
        let isMade = await withCheckedContinuation { continuation in
            stills.make(of: folder.path("movie.mp4"), at: still) { continuation.resume(returning: $0) }
        }
        #expect(isMade == Self.programs[index].isMade)
        #expect(FileManager.default.fileExists(atPath: still) == isMade)
        #expect(!FileManager.default.fileExists(atPath: still + ".new"))
    }
}
