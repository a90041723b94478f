import AldabaTestSupport
import Foundation
import Testing

@testable import LinuxDesktop

/// Which player is run for a sound.
struct SoundPlayerTests {
    private let folder: TemporaryFolder
    private let bell: String

    init() throws {
        folder = try TemporaryFolder()
        bell = folder.path("bell.wav")
        #expect(FileManager.default.createFile(atPath: bell, contents: Data()))
    }

    private func player(_ programs: String...) throws -> SoundPlayer {
        for program in programs {
            #expect(FileManager.default.createFile(atPath: folder.path(program), contents: Data()))
            chmod(folder.path(program), 0o700)
        }
        return SoundPlayer(environment: ["PATH": folder.url.path], standardFile: folder.path("standard.oga"))
    }

    @Test func `the first player there is gets the file and its volume, in its own measure`() throws {
        let call = try #require(try player("aplay").program(for: .file(bell), volume: 0.5))
        #expect(call.path == folder.path("aplay") && call.arguments == ["--quiet", bell])
        let pulse = try #require(try player("paplay").program(for: .file(bell), volume: 0.5))
        #expect(pulse.arguments == ["--volume=32768", bell])
        let pipeWire = try #require(try player("pw-play").program(for: .file(bell), volume: 7))
        #expect(pipeWire.arguments == ["--volume=1.0", bell])
        #expect(try #require(try player().program(for: .file(bell), volume: nil)).arguments == [bell])
    }

    @Test func `without a file of the desktop's own sound it is canberra's to find`() throws {
        let call = try #require(try player("pw-play", "canberra-gtk-play").program(for: .standard, volume: nil))
        #expect(call.path == folder.path("canberra-gtk-play") && call.arguments == ["--id=message-new-instant"])
    }

    @Test func `the file of the desktop's own sound is played by the first player that plays files`() throws {
        let file = folder.path("standard.oga")
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        let canberra = try #require(try player("aplay", "canberra-gtk-play").program(for: .standard, volume: nil))
        #expect(canberra.arguments == ["--id=message-new-instant"])
        let pipeWire = try #require(try player("pw-play").program(for: .standard, volume: 0.5))
        #expect(pipeWire.path == folder.path("pw-play") && pipeWire.arguments == ["--volume=0.5", file])
    }

    @Test func `canberra gets the file of an app's sound`() throws {
        let call = try #require(try player("canberra-gtk-play").program(for: .file(bell), volume: nil))
        #expect(call.arguments == ["--file=\(bell)"])
    }

    @Test func `without a player, a file or a sound nothing is run`() throws {
        #expect(try player().program(for: .file(bell), volume: nil) == nil)
        #expect(try player("pw-play").program(for: .silent, volume: nil) == nil)
        #expect(try player().program(for: .standard, volume: nil) == nil)
        #expect(try player().program(for: .file(folder.path("missing.wav")), volume: nil) == nil)
    }
}
