import AgentEngine
import AgentProtocol
import Foundation
import Platform

/// Has the desktop's own thumbnailers make stills: the programs that `*.thumbnailer` files in the `thumbnailers`
/// folders of the data folders name (gdk-pixbuf's for animations, ffmpegthumbnailer's or totem's for movies).
///
/// Bounded: a few programs at a time, each for ten seconds; a still is complete or not there, and readable by this user
/// only.
package final class ThumbnailerProgram: VideoThumbnailer {
    private static let timeout = Duration.seconds(10)
    /// Pixels of the longer side; desktops show less.
    private static let size = 256

    private let environment: [String: String]
    private let threads = BoundedThreads("aldaba-still", limit: 4)

    /// Looks for programs each time.
    ///
    /// - Parameter environment: The agent's own, which names the data folders; programs inherit it without the
    ///   agent's settings.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    /// `true` for the endings `gif`, `mp4`, `mpg` and `avi`, whether or not a program is there.
    package func canMake(of path: String) -> Bool { StillImage.sourceType(of: path) != nil }

    /// The still is not made without a program for the type, and while four programs run.
    package func make(of path: String, at still: String, then complete: @escaping @Sendable (Bool) -> Void) {
        let isBegun = threads.begin(
            { [self] in StillImage.sourceType(of: path).map { make(of: path, $0, size: Self.size, at: still) } ?? false
            },
            then: complete)
        if !isBegun { complete(false) }
    }

    /// Makes a picture of a file as a PNG, on the thread that asks, within ten seconds.
    ///
    /// - Parameters:
    ///   - type: The file's media type.
    ///   - size: Pixels of the longer side.
    /// - Returns: Whether it is there.
    package func make(of path: String, _ type: String, size: Int, at still: String) -> Bool {
        thumbnailer(for: type).map { run($0, path: path, size: size, still: still) } ?? false
    }

    private func thumbnailer(for type: String) -> Thumbnailer? {
        for folder in folders {
            for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
            where name.hasSuffix(".thumbnailer") {
                guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8),
                    let found = Thumbnailer(text), found.types.contains(type), program(of: found) != nil
                else { continue }
                return found
            }
        }
        return nil
    }

    /// The user's own folder first (XDG Base Directory Specification).
    private var folders: [String] {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let own = value("XDG_DATA_HOME") ?? (value("HOME") ?? NSHomeDirectory()) + "/.local/share"
        let shared = (value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
        return ([own] + shared).map { $0 + "/thumbnailers" }
    }

    private func program(of thumbnailer: Thumbnailer) -> String? {
        ChildProgram.find(thumbnailer.command[0], environment: environment)
    }

    private func run(_ thumbnailer: Thumbnailer, path: String, size: Int, still: String) -> Bool {
        guard let program = program(of: thumbnailer) else { return false }
        let draft = still + ".new"
        unlink(draft)
        // The program may write the file, but no other user may read it.
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        close(file)
        defer { unlink(draft) }
        let maker = ChildProgram(
            path: program,
            arguments: Array(thumbnailer.arguments(input: path, output: draft, size: size).dropFirst()),
            environment: environment)
        guard (try? maker.run(timeout: Self.timeout)) != nil else { return false }
        let head = FileHandle(forReadingAtPath: draft).flatMap { try? $0.read(upToCount: 16) } ?? Data()
        guard MediaFormat(head: Array(head))?.ending == "png", chmod(draft, 0o600) == 0 else { return false }
        return rename(draft, still) == 0
    }
}

/// A `*.thumbnailer` file: the types of which a program makes pictures, and its command line.
struct Thumbnailer: Hashable, Sendable {
    var types: Set<String>
    /// The program, and its arguments with their fields: `%i` the file, `%u` its address, `%o` the picture, `%s` its
    /// size.
    var command: [String]

    /// - Returns: `nil` for a text that names no program.
    init?(_ text: String) {
        var values: [Substring: Substring] = [:]
        var isInEntry = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isInEntry = line == "[Thumbnailer Entry]"
            } else if isInEntry, let equals = line.firstIndex(of: "=") {
                values[line[..<equals]] = line[line.index(after: equals)...]
            }
        }
        command = Self.words(of: values["Exec"] ?? "")
        types = Set((values["MimeType"] ?? "").split(separator: ";").map(String.init))
        guard !command.isEmpty else { return nil }
    }

    /// Splits a text at blanks; text in quotation marks is not split.
    private static func words(of text: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var mark: Character?
        for character in text {
            if character == mark {
                mark = nil
            } else if mark == nil, character == "\"" || character == "'" {
                mark = character
                word = word ?? ""
            } else if mark == nil, character == " " || character == "\t" {
                words += word.map { [$0] } ?? []
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    /// The command with its fields filled.
    func arguments(input: String, output: String, size: Int) -> [String] {
        let fields: [Character: String] = [
            "i": input, "u": URL(fileURLWithPath: input).absoluteString, "o": output, "s": "\(size)", "%": "%",
        ]
        return command.map { word in
            var filled = ""
            var rest = Substring(word)
            while let percent = rest.firstIndex(of: "%") {
                filled += rest[..<percent]
                rest = rest[percent...].dropFirst()
                filled += rest.first.flatMap { fields[$0] } ?? ""
                rest = rest.dropFirst()
            }
            return filled + rest
        }
    }
}
