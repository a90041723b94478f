/// A file that one device offers to another, or what an app sends to a service of another as a stream.
public struct RelayOffer: Hashable, Sendable {
    /// The file's name, without folders.
    public var name: String
    /// The size in bytes, at most ``largest``.
    public var size: Int64
    /// When it was changed last, in milliseconds since 1970. With name and size it identifies the file of an earlier
    /// part.
    public var modified: Int64
    /// The call that asked for it; `nil` where none did.
    public var answers: String?
    /// The app and its service that are to take it; `nil` for a file, which the device takes.
    public var app: String?, service: String?

    /// The largest size that is offered, in bytes: 2⁶⁰, so that places in a file can be counted on from.
    public static let largest: Int64 = 1 << 60

    /// Describes a file.
    public init(
        name: String, size: Int64, modified: Int64, answers: String? = nil, app: String? = nil, service: String? = nil
    ) {
        self.name = name
        self.size = size
        self.modified = modified
        self.answers = answers
        self.app = app
        self.service = service
    }

    var map: RelayMap {
        var map: RelayMap = ["name": .string(name), "size": .integer(size), "modified": .integer(modified)]
        map.add("answers", answers.map(RelayValue.string))
        map.add("app", app.map(RelayValue.string))
        map.add("service", service.map(RelayValue.string))
        return map
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        name = try fields.text("name", most: 255)
        size = try fields.integer("size")
        guard (0...Self.largest).contains(size) else { throw fields.fault("size", "0 to \(Self.largest)") }
        modified = try fields.integer("modified")
        answers = try fields.optionalText("answers")
        app = try fields.optionalText("app")
        service = try fields.optionalText("service")
    }
}
