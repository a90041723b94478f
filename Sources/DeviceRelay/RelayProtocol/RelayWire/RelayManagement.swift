/// A user's command at a terminal that concerns their devices.
public enum RelayManagement: Hashable, Sendable {
    /// Report this device's id and name, and whether it has an account.
    case status
    /// Give the account's key to be shown to another device of the same person; it is made where there is none.
    case showAccount
    /// Join the account of this key.
    case join(key: String)
    /// Leave the account.
    case leave
    /// Give this device another name.
    case rename(String)
    /// Let addresses of a scheme be opened here, or no more.
    case scheme(String, allowed: Bool)
    /// Let a device call a service here, or no more; `*` for any device. With `seconds` for so long, else until it is
    /// revoked; with `needsUnlocked` only while the screen is unlocked.
    case grant(
        device: String, app: String, service: String, allowed: Bool, seconds: Int64? = nil, needsUnlocked: Bool = false)
    /// Refuse a device a service here permanently, also where it was granted to all; `*` for any device. Granting or
    /// revoking access ends it.
    case deny(device: String, app: String, service: String)
    /// List the grants and denials; at most ``RelayManagement/pageSize`` of them, beginning with this one.
    case grants(from: Int64)
    /// List the latest commands sent from here, unfinished ones first.
    case commands
    /// Put files of other devices into this folder.
    case filesFolder(String)
    /// Let other devices fetch the photos of this folder.
    case photosFolder(String?)
    /// Let other devices run a program under this name; without arguments no more.
    case program(name: String, words: [String])
    /// Pairs. Without `word`, this device's account is shared; with it, the other's is joined.
    case pair(word: String?)
    /// List the latest commands of other devices here.
    case log
    /// Whether both screens show the same digits.
    case confirm(Bool)
    /// Take a device from the person's devices, and give those that stay another key.
    case dismiss(device: String)
    /// Inform the server by which channel this device is woken while it has no session; `nil` for none.
    case wakeBy(RelayWakeChannel?)
    /// Report or change two times of connections between apps, in seconds: after which a connection without messages
    /// ends (0 for never), and how long it outlives a loss of connectivity.
    case connections(idle: Int64?, grace: Int64?)

    /// How long a grant may last that ends by itself: a year at most.
    public static let grantSeconds: ClosedRange<Int64> = 1...31_536_000
    /// The most grants and denials in one response.
    public static let pageSize = 200

    var map: RelayMap {
        switch self {
        case .status: ["what": "status"]
        case .showAccount: ["what": "showAccount"]
        case .join(let key): ["what": "join", "key": .string(key)]
        case .leave: ["what": "leave"]
        case .rename(let name): ["what": "rename", "name": .string(name)]
        case .scheme(let scheme, let allowed):
            ["what": "scheme", "scheme": .string(scheme), "allowed": .bool(allowed)]
        case .grant(
            let device, let app, let service, let allowed, let seconds,
            let needsUnlocked):
            Self.grant(
                device, app: app, service: service, allowed: allowed, seconds: seconds, needsUnlocked: needsUnlocked)
        case .deny(let device, let app, let service):
            ["what": "deny", "device": .string(device), "app": .string(app), "service": .string(service)]
        case .grants(let first): ["what": "grants", "from": .integer(first)]
        case .commands: ["what": "commands"]
        case .filesFolder(let path): ["what": "filesFolder", "path": .string(path)]
        case .photosFolder(let path):
            ["what": "photosFolder"].merging(path.map { ["path": .string($0)] } ?? [:]) { $1 }
        case .program(let name, let words):
            ["what": "program", "name": .string(name), "words": .array(words.map(RelayValue.string))]
        case .pair(let word): word.map { ["what": "pair", "word": .string($0)] } ?? ["what": "pair"]
        case .log: ["what": "log"]
        case .confirm(let areSame): ["what": "confirm", "areSame": .bool(areSame)]
        case .dismiss(let device): ["what": "dismiss", "device": .string(device)]
        case .connections(let idle, let grace): Self.connections(idle, grace)
        case .wakeBy(let channel):
            channel.map { ["what": "wakeBy", "wake": .dictionary($0.map)] } ?? ["what": "wakeBy"]
        }
    }

    private static func grant(
        _ device: String, app: String, service: String, allowed: Bool, seconds: Int64?, needsUnlocked: Bool
    ) -> RelayMap {
        var map: RelayMap = [
            "what": "grant", "device": .string(device), "app": .string(app), "service": .string(service),
            "allowed": .bool(allowed),
        ]
        map.add("seconds", seconds.map(RelayValue.integer))
        if needsUnlocked { map["unlocked"] = true }
        return map
    }

    private static func connections(_ idle: Int64?, _ grace: Int64?) -> RelayMap {
        var map: RelayMap = ["what": "connections"]
        map.add("idle", idle.map(RelayValue.integer))
        map.add("grace", grace.map(RelayValue.integer))
        return map
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        switch try fields.text("what") {
        case "connections":
            self = .connections(
                idle: try fields.optionalInteger("idle"),
                grace: try fields.optionalInteger("grace"))
        case "status": self = .status
        case "showAccount": self = .showAccount
        case "join": self = .join(key: try fields.text("key"))
        case "leave": self = .leave
        case "rename": self = .rename(try fields.text("name", most: 4096))
        case "scheme": self = .scheme(try fields.text("scheme"), allowed: try fields.flag("allowed"))
        case "grant":
            self = .grant(
                device: try fields.text("device", most: 128), app: try fields.text("app", most: 255),
                service: try fields.text("service", most: 255), allowed: try fields.flag("allowed"),
                seconds: try fields.optionalInteger("seconds"), needsUnlocked: try fields.flag("unlocked"))
        case "deny":
            self = .deny(
                device: try fields.text("device", most: 128), app: try fields.text("app", most: 255),
                service: try fields.text("service", most: 255))
        case "grants": self = .grants(from: try fields.integer("from", else: 0))
        case "commands": self = .commands
        case "filesFolder": self = .filesFolder(try fields.text("path", most: 4096))
        case "photosFolder": self = .photosFolder(try fields.optionalText("path", most: 4096))
        case "program": self = .program(name: try fields.text("name", most: 64), words: try fields.texts("words"))
        case "pair": self = .pair(word: try fields.optionalText("word", most: 64))
        case "log": self = .log
        case "confirm": self = .confirm(try fields.flag("areSame"))
        case "dismiss": self = .dismiss(device: try fields.text("device", most: 64))
        case "wakeBy":
            guard let map = try fields.optionalMap("wake") else {
                self = .wakeBy(nil)
                return
            }
            guard let channel = try RelayWakeChannel.read(map) else { throw fields.fault("wake", "of apns or fcm") }
            self = .wakeBy(channel)
        default: throw fields.fault("what", "a word of this version, such as status or grant")
        }
    }
}

// Keeps the account's key and the pairing code out of logs and dumps.
extension RelayManagement: CustomReflectable {
    /// The case with what belongs to it, and `<redacted>` in place of a secret.
    public var customMirror: Mirror {
        let children: [Mirror.Child] = shown.map { [(label: nil, value: $0)] } ?? []
        return Mirror(self, children: children, displayStyle: .enum)
    }

    private var shown: Any? {
        switch self {
        case .status, .showAccount, .leave, .log, .commands: nil
        case .grants(let first): first
        case .connections(let idle, let grace): (idle: idle, grace: grace)
        case .deny(let device, let app, let service): (device: device, app: app, service: service)
        case .join: "<redacted>"
        case .pair(let word): word.map { _ in "<redacted>" }
        case .rename(let text), .filesFolder(let text), .dismiss(let text): text
        case .photosFolder(let path): path
        case .scheme(let scheme, let allowed): (scheme: scheme, allowed: allowed)
        case .grant(
            let device, let app, let service, let allowed, let seconds,
            let needsUnlocked):
            (
                device: device, app: app, service: service, allowed: allowed, seconds: seconds,
                needsUnlocked: needsUnlocked
            )
        case .program(let name, let words): (name: name, words: words)
        case .confirm(let areSame): areSame
        case .wakeBy(let channel): channel
        }
    }
}
