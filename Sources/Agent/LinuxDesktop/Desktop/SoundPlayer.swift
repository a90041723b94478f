import AgentEngine
import Foundation
import Platform

/// Plays sounds where the notification server does not, with a player of the desktop: PipeWire's, PulseAudio's,
/// libcanberra's or ALSA's. Without a player there is no sound.
///
/// Bounded: a few sounds at a time, each for thirty seconds.
final class SoundPlayer: Sendable {
    private static let timeout = Duration.seconds(30)
    /// The sound of the freedesktop theme for a new message.
    private static let event = "message-new-instant"
    static let standardFile = "/usr/share/sounds/freedesktop/stereo/\(event).oga"

    private let environment: [String: String]
    private let standardFile: String
    private let threads = BoundedThreads("aldaba-sound", limit: 4)

    /// - Parameter standardFile: The standard sound's file, for players that only play files.
    init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        standardFile: String = SoundPlayer.standardFile
    ) {
        self.standardFile = standardFile
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    /// Begins to play, and returns at once.
    ///
    /// - Parameter volume: 0 to 1; `nil` for the player's own.
    func play(_ sound: Presentation.Sound, volume: Double?) {
        guard let program = program(for: sound, volume: volume) else { return }
        _ = threads.begin { _ = try? program.run(timeout: Self.timeout) }
    }

    /// The player and its arguments; `nil` when there is none for this sound.
    func program(for sound: Presentation.Sound, volume: Double?) -> ChildProgram? {
        let file: String
        switch sound {
        case .silent: return nil
        case .standard: file = standardFile
        case .file(let path): file = path
        }
        let loudness = volume.map { min(max($0, 0), 1) }
        let isThere = FileManager.default.isReadableFile(atPath: file)
        let calls: [(name: String, arguments: [String], takes: Bool)] = [
            ("pw-play", (loudness.map { ["--volume=\($0)"] } ?? []) + [file], isThere),
            ("paplay", (loudness.map { ["--volume=\(Int($0 * 65_536))"] } ?? []) + [file], isThere),
            (
                "canberra-gtk-play", sound == .standard ? ["--id=\(Self.event)"] : ["--file=\(file)"],
                isThere || sound == .standard
            ),
            ("aplay", ["--quiet", file], isThere && file.hasSuffix(".wav")),
        ]
        for call in calls where call.takes {
            if let path = ChildProgram.find(call.name, environment: environment) {
                return ChildProgram(path: path, arguments: call.arguments, environment: environment)
            }
        }
        return nil
    }
}
