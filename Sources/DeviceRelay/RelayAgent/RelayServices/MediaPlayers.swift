import Foundation
import LinuxDesktop
import Platform

/// The media players of the session's bus (MPRIS), for one conversation; blocks.
package final class MediaPlayers {
    /// A player as it is now.
    package struct Player: Hashable, Sendable {
        /// The part of its bus name after `org.mpris.MediaPlayer2.`, which identifies the player.
        package var name: String
        /// The player's display name.
        package var identity: String
        /// `Playing`, `Paused` or `Stopped`.
        package var status: String
        /// The address of the media it plays; empty for none.
        package var uri: String
        /// The title; empty where the player reports none.
        package var title: String
        /// The position in microseconds.
        package var position: Int64
        var tellsPosition: Bool
        /// How fast it plays; 1 is as it was recorded.
        package var rate: Double
        /// The schemes of the addresses that it opens.
        package var schemes: [String]
        var track: String
    }

    /// Why something could not be done, in words.
    package struct Fault: Error, CustomStringConvertible {
        /// The message.
        package var description: String
    }

    private static let prefix = "org.mpris.MediaPlayer2."
    private static let path = "/org/mpris/MediaPlayer2"
    private static let player = "org.mpris.MediaPlayer2.Player"
    private static let properties = "org.freedesktop.DBus.Properties"
    private let bus: DBusClient
    /// The longest position, in microseconds: a month.
    private static let longest: Int64 = 2_678_400_000_000

    /// Connects to the session's bus.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(Fault) {
        do throws(DBusClient.Fault) { bus = try DBusClient(environment: environment) } catch {
            throw Fault(description: error.words)
        }
        bus.watch(Self.properties, "PropertiesChanged")
    }

    private func call(
        _ method: String, of interface: String, in name: String, _ values: [BusValue] = []
    ) throws(Fault) -> [BusValue] {
        do throws(DBusClient.Fault) {
            return try bus.call(method, of: interface, at: Self.path, in: Self.prefix + name, values)
        } catch {
            // The bus' own names of errors are no messages for people.
            switch error.name {
            case "": throw Fault(description: error.words)
            case "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown":
                throw Fault(description: "the player \(name) runs no more")
            default: throw Fault(description: "the player \(name) does not do that (\(method))")
            }
        }
    }

    /// All players.
    package func all() throws(Fault) -> [Player] {
        let names: [BusValue]
        do throws(DBusClient.Fault) {
            names = try bus.call(
                "ListNames", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", in: "org.freedesktop.DBus")
        } catch { throw Fault(description: error.words) }
        guard case .strings(let all)? = names.first else { return [] }
        var players: [Player] = []
        for name in all.sorted() where name.hasPrefix(Self.prefix) {
            // One that ends in between is passed by.
            if let player = try? self.player(String(name.dropFirst(Self.prefix.count))) { players.append(player) }
        }
        return players
    }

    /// A player of a name.
    package func player(_ name: String) throws(Fault) -> Player {
        guard !name.isEmpty, name.utf8.count < 200, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x2f })
        else {
            throw Fault(description: "that is no name of a player")
        }
        guard
            case .dictionary(let own)? = try call("GetAll", of: Self.properties, in: name, [.string(Self.player)]).first,
            case .dictionary(let root)? = try call(
                "GetAll", of: Self.properties, in: name, [.string("org.mpris.MediaPlayer2")]
            ).first
        else { throw Fault(description: "\(name) does not tell what it plays") }
        var player = Player(
            name: name, identity: name, status: "Stopped", uri: "", title: "", position: 0, tellsPosition: false,
            rate: 1,
            schemes: [], track: "")
        if case .string(let text)? = root["Identity"] { player.identity = text }
        if case .strings(let schemes)? = root["SupportedUriSchemes"] { player.schemes = schemes }
        if case .string(let text)? = own["PlaybackStatus"] { player.status = text }
        if case .double(let rate)? = own["Rate"] { player.rate = rate }
        // Some leave the position out of all properties.
        if case .int64(let position)? = own["Position"] {
            player.position = max(-Self.longest, min(position, Self.longest))
            player.tellsPosition = true
        } else if case .int64(let position)? = try? call(
            "Get", of: Self.properties, in: name, [.string(Self.player), .string("Position")]
        ).first {
            player.position = max(-Self.longest, min(position, Self.longest))
            player.tellsPosition = true
        }
        guard case .dictionary(let metadata)? = own["Metadata"] else { return player }
        if case .string(let text)? = metadata["xesam:url"] { player.uri = text }
        if case .string(let text)? = metadata["xesam:title"] { player.title = text }
        switch metadata["mpris:trackid"] {
        case .path(let text), .string(let text): player.track = text
        default: break
        }
        return player
    }

    /// The one of these players that has a name.
    ///
    /// - Throws: a fault with the names that there are.
    package static func find(_ name: String, in players: [Player]) throws(Fault) -> Player {
        if let player = players.first(where: { $0.name == name }) { return player }
        let names = players.prefix(32).map(\.name).joined(separator: ", ")
        throw Fault(
            description: "there is no player \(name.prefix(200))"
                + (names.isEmpty ? ", since none runs" : "; there are: \(names)"))
    }

    /// Has a player play, pause or stop, and returns it as it is once it does so.
    ///
    /// Some players report `Stopped` of what they play until they are paused, so only `Paused` tells that they are.
    ///
    /// - Parameter timeout: The timeout, after which the player is returned in its present state. A player without
    ///   media reports `Stopped` throughout.
    package func carryOut(_ what: String, _ name: String, timeout: Duration) throws(Fault) -> Player {
        _ = try Self.find(name, in: all())
        try order(what.capitalized, name)
        return try wait(for: name, until: .now + timeout, orGiveUp: true) {
            switch what {
            case "play": $0.status == "Playing"
            case "pause": $0.status == "Paused"
            default: $0.status == "Stopped"
            }
        }
    }

    /// Calls a method without arguments: `Play`, `Pause`, `Stop`.
    package func order(_ method: String, _ name: String) throws(Fault) {
        _ = try call(method, of: Self.player, in: name)
    }

    /// Plays an address from a position on, and returns when it plays.
    ///
    /// - Parameters:
    ///   - name: The player; `nil` for one that opens such addresses.
    ///   - position: The position at the time `at`, in microseconds; `at` is in milliseconds since 1970.
    ///   - timeout: The time within which it must play; after that it is stopped again.
    package func take(
        _ uri: String, name: String?, position: Int64, rate: Double, at: Int64, timeout: Duration
    ) throws(Fault) -> Player {
        let scheme = String(uri.prefix { $0 != ":" }).lowercased()
        var all = try all()
        if let name { all = [try Self.find(name, in: all)] }
        guard let chosen = all.first(where: { $0.schemes.contains(scheme) }) else {
            throw Fault(
                description: all.isEmpty
                    ? "no player runs there" : "no player there opens \(scheme) addresses")
        }
        let deadline = ContinuousClock.now + timeout
        do {
            // A player that does not answer may still open the address later, and is stopped then.
            _ = try call("OpenUri", of: Self.player, in: chosen.name, [.string(uri)])
            var playing = try wait(for: chosen.name, until: deadline) { $0.uri == uri }
            _ = try call("Play", of: Self.player, in: chosen.name)
            let began = playing.position
            // The position is decisive, not the status: mpv reports `Playing` before its site has sent anything, and
            // still reports `Stopped` of an address that it opened while it was idle.
            playing = try wait(for: chosen.name, until: deadline) {
                $0.uri == uri && ($0.position > began || ($0.status == "Playing" && !$0.tellsPosition))
            }
            // These numbers come from outside: nothing that is added up here may be beyond what can be.
            let speed = rate.isFinite ? max(0, min(rate, 8)) : 1
            let begin = max(0, min(position, Self.longest))
            func target() -> Int64 {
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                let passed = now - max(now - 3_600_000, min(at, now))
                return begin + Int64(Double(passed) * 1000 * speed)
            }
            guard target() > 2_000_000 || playing.position > 2_000_000 else { return playing }
            // A player that has just begun may not be able to seek yet: the request is repeated.
            repeat {
                _ = try call("SetPosition", of: Self.player, in: chosen.name, [.path(playing.track), .int64(target())])
                playing = try wait(for: chosen.name, until: min(deadline, .now + .milliseconds(500)), orGiveUp: true) {
                    abs($0.position - target()) < 1_500_000
                }
            } while abs(playing.position - target()) >= 1_500_000 && deadline > .now
            guard abs(playing.position - target()) < 1_500_000 else {
                throw Fault(description: "\(chosen.name) does not go to the position")
            }
            return playing
        } catch let fault as Fault {
            try? order("Stop", chosen.name)
            throw fault
        } catch { throw Fault(description: "\(error)") }
    }

    private func wait(
        for name: String, until deadline: ContinuousClock.Instant, orGiveUp: Bool = false, _ isSo: (Player) -> Bool
    ) throws(Fault) -> Player {
        while true {
            let now = try player(name)
            if isSo(now) { return now }
            guard deadline > .now else {
                if orGiveUp { return now }
                throw Fault(description: "\(name) did not begin to play it in time")
            }
            // No signal reports positions.
            _ = bus.signal(
                Self.properties, "PropertiesChanged",
                timeout: min(.milliseconds(100), deadline - .now))
        }
    }
}
