import AgentEngine
import Foundation
import LinuxDesktop
import Platform
import RelayProtocol
import Synchronization

/// The agent's own services: media players, clipboard, photos, notifications, and programs that the owner listed.
package final class DeviceServices: NativeServices {
    /// How many questions are answered at a time.
    private static let limit = 8
    /// How long a player may take to begin, and a program to end.
    private static let playTimeout = Duration.seconds(9), programTimeout = Duration.seconds(30)

    private let environment: [String: String]
    private let threads = BoundedThreads("aldaba-service", limit: limit)
    /// The threads of notifications, which may wait long for their answers.
    private let waitingThreads = BoundedThreads("aldaba-notify", limit: limit)
    private let notify: NotifyService?
    private let thumbnailers: ThumbnailerProgram
    /// The signals that end running programs, by the tickets of their requests.
    private let programs = Mutex<[Int64: WakeUp]>([:])

    /// The services in this environment; the agent's own settings are kept from what they start.
    ///
    /// - Parameter agentSocket: The agent's socket, by which it shows notifications; `nil` for not offering that.
    package init(
        agentSocket: String? = nil, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let own = environment.filter { !$0.key.hasPrefix("ALDABA_") }
        self.environment = own
        notify = agentSocket.map {
            NotifyService(program: "/proc/self/exe", socket: $0, environment: own)
        }
        thumbnailers = ThumbnailerProgram(environment: environment)
    }

    /// The names of the services.
    package var names: Set<String> {
        Set(["media", "clipboard", "photos", "run"]).union(notify == nil ? [] : ["notify"])
    }

    /// Answers a question on a thread of its own.
    package func serve(
        _ ticket: Int64, service: String, message: RelayMap, settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void
    ) {
        let wish: WakeUp?
        do { wish = service == "run" || service == "notify" ? try WakeUp() : nil } catch {
            return complete(RelayOutcome(.failed, detail: "\(error)"))
        }
        // Before the thread begins: it may be taken back at once.
        if let wish { programs.withLock { $0[ticket] = wish } }
        let isBegun = (service == "notify" ? waitingThreads : threads).begin { [self] in
            answer(service, message: message, settings: settings, wish: wish)
        } then: { [self] outcome in
            forget(ticket)
            complete(outcome)
        }
        guard !isBegun else { return }
        forget(ticket)
        complete(RelayOutcome(.resourceLimits, detail: "other questions are being answered"))
    }

    /// Ends the program that was run for a question, with everything that it started.
    package func end(_ ticket: Int64) { programs.withLock { $0[ticket] }?.signal() }

    private func forget(_ ticket: Int64) { programs.withLock { $0[ticket] = nil } }

    private func answer(
        _ service: String, message: RelayMap, settings: RelaySettings, wish: WakeUp?
    ) -> RelayOutcome {
        let what = Self.text(message, "do") ?? ""
        do {
            switch service {
            case "media": return try media(what, message)
            case "clipboard": return try clipboard(what, message)
            case "photos": return photos(what, message: message, folder: settings.photosFolder)
            case "run": return try run(message, programs: settings.programs ?? [:], wish: wish)
            case "notify":
                guard let notify, let wish else { return RelayOutcome(.serviceUnavailable) }
                return try notify.show(message, unlessEnded: wish)
            default: return RelayOutcome(.serviceUnavailable)
            }
        } catch { return RelayOutcome(.failed, detail: "\(error)") }
    }

    private static func text(_ message: RelayMap, _ key: String) -> String? {
        if case .string(let text)? = message[key] { text } else { nil }
    }

    private static func number(_ message: RelayMap, _ key: String) -> Int64? {
        switch message[key] {
        case .integer(let number): number
        case .date(let milliseconds): milliseconds
        default: nil
        }
    }

    private static func unknown(_ what: String, _ known: String) -> RelayOutcome {
        RelayOutcome(.failed, detail: "`do` is \(known), and not \(what.prefix(40))")
    }

    // MARK: Media

    private func media(_ what: String, _ message: RelayMap) throws -> RelayOutcome {
        let players = try MediaPlayers(environment: environment)
        switch what {
        case "list":
            return RelayOutcome(
                .success, message: ["players": .array(try players.all().prefix(32).map { .dictionary(Self.map($0)) })])
        case "play", "pause", "stop":
            guard let name = Self.text(message, "player") else {
                return RelayOutcome(.failed, detail: "`player` is missing")
            }
            return RelayOutcome(.success, message: Self.map(try players.carryOut(what, name, timeout: .seconds(2))))
        case "take":
            guard let uri = Self.text(message, "uri"), let position = Self.number(message, "position") else {
                return RelayOutcome(.failed, detail: "`uri` and `position` are needed")
            }
            switch AddressRule.verdict(on: uri, isAllowed: { _ in false }) {
            case .allowed: break
            case .denied(let why): return RelayOutcome(.denied, detail: why)
            case .notAllowed(let scheme):
                return RelayOutcome(.denied, detail: "a player is given pages only, and no address of \(scheme)")
            }
            var rate = 1.0
            if case .double(let number)? = message["rate"] { rate = number }
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let player = try players.take(
                uri, name: Self.text(message, "player"), position: position, rate: rate,
                at: Self.number(message, "at") ?? now, timeout: Self.playTimeout)
            return RelayOutcome(.success, message: Self.map(player))
        default: return Self.unknown(what, "list, play, pause, stop or take")
        }
    }

    private static func map(_ player: MediaPlayers.Player) -> RelayMap {
        [
            "player": .string(player.name), "identity": .string(player.identity), "status": .string(player.status),
            "uri": .string(String(player.uri.prefix(8192))), "title": .string(String(player.title.prefix(1024))),
            "position": .integer(player.position), "rate": .double(player.rate),
        ]
    }

    // MARK: Clipboard

    private func clipboard(_ what: String, _ message: RelayMap) throws -> RelayOutcome {
        let isWayland = !(environment["WAYLAND_DISPLAY"] ?? "").isEmpty
        guard isWayland || !(environment["DISPLAY"] ?? "").isEmpty else {
            return RelayOutcome(.failed, detail: "there is no clipboard: no desktop session runs there")
        }
        switch what {
        case "get":
            let words = isWayland ? ["wl-paste", "--no-newline"] : ["xclip", "-selection", "clipboard", "-o"]
            let text = try program(words).run(outputLimit: 60_000, timeout: .seconds(3))
            guard let text else {
                return RelayOutcome(.failed, detail: "the clipboard is empty, holds no text, or more than 60,000 bytes")
            }
            return RelayOutcome(.success, message: ["text": .string(String(decoding: text, as: UTF8.self))])
        case "set":
            guard let text = Self.text(message, "text"), text.utf8.count <= 60_000 else {
                return RelayOutcome(.failed, detail: "`text` is needed, of at most 60,000 bytes")
            }
            let words = isWayland ? ["wl-copy"] : ["xclip", "-selection", "clipboard", "-i"]
            guard try program(words).run(input: Data(text.utf8), timeout: .seconds(3)) != nil else {
                return RelayOutcome(.failed, detail: "the clipboard does not take it")
            }
            return RelayOutcome(.success)
        default: return Self.unknown(what, "get or set")
        }
    }

    private func program(_ words: [String]) throws -> ChildProgram {
        guard let path = ChildProgram.find(words[0], environment: environment) else {
            throw MachineError(what: words[0], reason: "it is not installed there")
        }
        return ChildProgram(path: path, arguments: Array(words.dropFirst()), environment: environment)
    }

    // MARK: Photos

    /// The media types that count as photos, by file name extension.
    private static let types = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "avif": "image/avif", "mp4": "video/mp4", "mov": "video/quicktime",
    ]
    /// Pixels of the longer side of a small picture, and how many bytes it has at most.
    private static let thumbnailSizes = [160, 96, 64], thumbnailLimit = 16 << 10

    private func photos(_ what: String, message: RelayMap, folder: String?) -> RelayOutcome {
        guard let folder else { return RelayOutcome(.serviceUnavailable) }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            // The path is withheld from the other device.
            return RelayOutcome(.failed, detail: "the folder of the photos cannot be read there now, or is missing")
        }
        switch what {
        case "list":
            let since = Self.number(message, "since") ?? .min
            let page = max(0, Self.number(message, "page") ?? 0)
            let photos = names.compactMap { Self.photo($0, in: folder) }.filter { $0.modified > since }
                .sorted { ($1.modified, $0.name) < ($0.modified, $1.name) }
            let from = page.multipliedReportingOverflow(by: 100)
            let first = from.overflow ? photos.count : Int(min(from.partialValue, Int64(photos.count)))
            return RelayOutcome(
                .success,
                message: [
                    "count": .integer(Int64(photos.count)),
                    "photos": .array(
                        photos[first...].prefix(100).map {
                            .dictionary([
                                "name": .string($0.name), "size": .integer($0.size),
                                "changed": .date(milliseconds: $0.modified),
                            ])
                        }),
                ])
        case "fetch":
            guard let name = Self.text(message, "name"), let photo = Self.photo(name, in: folder) else {
                return RelayOutcome(.failed, detail: "there is no such photo")
            }
            return RelayOutcome(
                .success, message: ["path": .string(folder + "/" + photo.name), "size": .integer(photo.size)])
        case "thumb":
            guard let name = Self.text(message, "name"), let photo = Self.photo(name, in: folder) else {
                return RelayOutcome(.failed, detail: "there is no such photo")
            }
            guard let picture = thumbnail(of: folder + "/" + photo.name) else {
                return RelayOutcome(.failed, detail: "no program of the device makes a small picture of it")
            }
            return RelayOutcome(.success, message: ["type": "image/png", "picture": .data(picture)])
        default: return Self.unknown(what, "list, thumb or fetch")
        }
    }

    /// A small picture of a photo: the largest of a few sizes that is small enough for a message.
    private func thumbnail(of path: String) -> [UInt8]? {
        guard let type = Self.types[String(path.split(separator: ".").last ?? "").lowercased()] else { return nil }
        let draft = FileManager.default.temporaryDirectory.path + "/aldaba-\(UUID().uuidString).png"
        defer { unlink(draft) }
        for size in Self.thumbnailSizes {
            guard thumbnailers.make(of: path, type, size: size, at: draft) else { return nil }
            let file = FileHandle(forReadingAtPath: draft)
            guard let bytes = try? file?.read(upToCount: Self.thumbnailLimit + 1), !bytes.isEmpty else { return nil }
            if bytes.count <= Self.thumbnailLimit { return Array(bytes) }
        }
        return nil
    }

    /// A photo of the folder itself: no folder below it, nothing hidden, and no link to elsewhere.
    private static func photo(_ name: String, in folder: String) -> RelayOffer? {
        guard !name.contains("/"), !name.contains("\0"), !name.hasPrefix("."),
            let ending = name.split(separator: ".").last, types[ending.lowercased()] != nil
        else { return nil }
        let path = folder + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return RelayFiles.offer(of: path)
    }

    // MARK: Programs

    private func run(_ message: RelayMap, programs: [String: [String]], wish: WakeUp?) throws -> RelayOutcome {
        guard let name = Self.text(message, "name"), let words = programs[name], !words.isEmpty else {
            let known = programs.keys.sorted().joined(separator: ", ")
            return RelayOutcome(.failed, detail: "the owner has listed no such program; there are: \(known)")
        }
        let run = try program(words).runToEnd(
            outputLimit: 16_384, timeout: Self.programTimeout, unlessEnded: wish)
        switch run {
        case .wrote(let output):
            return RelayOutcome(.success, message: ["output": .string(String(decoding: output, as: UTF8.self))])
        case .failed(let end, _): return RelayOutcome(.failed, detail: "\(name) ended with \(end)")
        case .wroteTooMuch: return RelayOutcome(.failed, detail: "\(name) wrote more than 16 KiB, and was ended")
        case .tookTooLong: return RelayOutcome(.failed, detail: "\(name) took longer than 30 seconds, and was ended")
        case .unwanted: return RelayOutcome(.cancelled, detail: "\(name) was ended")
        }
    }
}
