import Foundation

/// A small document that the devices of one person share, as an app sees it.
public struct RelayDocument: Hashable, Sendable {
    /// How large the content may be.
    public static let contentLimits = RelayLimits(bytes: 8 << 10, depth: 14, entries: 2048)
    /// How many bytes of UTF-8 a name may have, and how many the id of its app.
    public static let nameLimit = 128, appLimit = 255

    /// The app whose document it is; no other app sees it.
    public var app: String
    /// The document's name within the app.
    public var name: String
    /// The contents; `nil` where the document was removed.
    public var content: RelayMap?

    /// Makes a document.
    public init(app: String, name: String, content: RelayMap?) {
        self.app = app
        self.name = name
        self.content = content
    }

    /// Why it cannot be kept; `nil` where it can.
    public var fault: RelayFault? {
        if let fault = Self.fault(ofName: name) { return fault }
        do throws(RelayFault) {
            _ = try RelayEncoder.encode(content ?? [:], limits: Self.contentLimits)
            return nil
        } catch {
            return error
        }
    }

    /// Why a name is none; `nil` where it is one.
    public static func fault(ofName name: String) -> RelayFault? {
        let count = name.utf8.count
        guard !(1...nameLimit).contains(count) else { return nil }
        return RelayFault(path: "name", .member("a text of 1 to \(nameLimit) bytes of UTF-8; this has \(count)"))
    }

    /// The bytes that are sealed.
    public func encoded() throws(RelayFault) -> [UInt8] {
        if let fault { throw fault }
        var map: RelayMap = ["app": .string(app), "name": .string(name)]
        map.add("content", content.map(RelayValue.dictionary))
        return try RelayEncoder.encode(map, limits: .frame)
    }

    /// Reads what was sealed.
    public init(_ bytes: [UInt8]) throws(RelayFault) {
        let fields = RelayFields(try RelayDecoder.decode(bytes, limits: .frame), "document")
        app = try fields.text("app", most: Self.appLimit)
        name = try fields.text("name", most: Self.nameLimit)
        content = try fields.optionalMap("content")
    }
}

/// A document as the server keeps it: it reads neither name nor content.
public struct RelaySealedDocument: Hashable, Sendable {
    /// How many bytes a key has.
    public static let keyLength = 32
    /// How many bytes a body has at most: the content, the name and the app, and what sealing adds.
    public static let longestBody = 9 << 10

    /// The key of the app and the name, which the server cannot read.
    public var key: [UInt8]
    /// How often it was put or removed.
    public var revision: Int64
    /// The sealed contents, which only the devices of the account can read.
    public var body: [UInt8]
    /// Whether it was removed; the server keeps its revision for a while.
    public var isRemoved: Bool
    /// When the server took it, counted over all documents of all accounts: the later, the higher.
    public var number: Int64

    /// Makes one.
    public init(key: [UInt8], revision: Int64, body: [UInt8], isRemoved: Bool = false, number: Int64 = 0) {
        self.key = key
        self.revision = revision
        self.body = body
        self.isRemoved = isRemoved
        self.number = number
    }

    var map: RelayMap {
        var map: RelayMap = ["key": .data(key), "revision": .integer(revision), "body": .data(body)]
        if isRemoved { map["removed"] = true }
        if number != 0 { map["number"] = .integer(number) }
        return map
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "sealed document")
        key = try fields.data("key")
        guard key.count == Self.keyLength else { throw fields.fault("key", "\(Self.keyLength) bytes") }
        revision = try fields.integer("revision")
        guard revision > 0 else { throw fields.fault("revision", "above 0") }
        body = try fields.data("body")
        guard body.count <= Self.longestBody else { throw fields.fault("body", "at most \(Self.longestBody) bytes") }
        isRemoved = try fields.flag("removed")
        number = try fields.integer("number", else: 0)
    }
}

/// A request to the server about the documents of the device's account.
public enum RelayDocumentRequest: Hashable, Sendable {
    /// Keep one, or that it is removed, where the present revision is this one: 0 for none that was ever there.
    case put(RelaySealedDocument, over: Int64)
    /// Read a document.
    case get(key: [UInt8])
    /// List the documents with a higher number than this one, by number, as many as one response holds. The access
    /// token is that of the device's previous account; `nil` for its present one.
    case list(after: Int64, token: [UInt8]? = nil)

    var map: RelayMap {
        switch self {
        case .put(let document, let over):
            return document.map.merging(["what": "put", "over": .integer(over)]) { $1 }
        case .get(let key): return ["what": "get", "key": .data(key)]
        case .list(let number, let token):
            var map: RelayMap = ["what": "list", "after": .integer(number)]
            map.add("token", token.map(RelayValue.data))
            return map
        }
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        switch try fields.text("what") {
        case "put":
            let over = try fields.integer("over")
            let document = try RelaySealedDocument(fields.map)
            guard over >= 0, over < document.revision else { throw fields.fault("over", "0 to below the revision") }
            self = .put(document, over: over)
        case "get":
            let key = try fields.data("key")
            guard key.count == RelaySealedDocument.keyLength else { throw fields.fault("key", "32 bytes") }
            self = .get(key: key)
        case "list":
            let token = fields.map["token"] == nil ? nil : try fields.data("token")
            guard token?.count ?? 32 == 32 else { throw fields.fault("token", "32 bytes") }
            self = .list(after: try fields.integer("after"), token: token)
        default: throw fields.fault("what", "put, get or list")
        }
    }
}

/// The server's response to a ``RelayDocumentRequest``.
public enum RelayDocumentAnswer: Hashable, Sendable {
    /// It is kept, and a power cut does not undo that.
    case kept(revision: Int64)
    /// The present revision is not the expected one.
    case conflict(present: Int64, isRemoved: Bool)
    /// The requested documents, and whether these are all; `last` is the highest number in use.
    case documents([RelaySealedDocument], isAll: Bool, last: Int64)
    /// It was refused.
    case refused(Refusal)

    /// Why.
    public enum Refusal: String, Hashable, Sendable, CaseIterable {
        /// The account has reached the limit on its documents.
        case full
        /// The server could not write or read it.
        case notKept
        /// The device has not sent a hello.
        case notJoined
        /// Too much was asked at a time.
        case busy
    }

    var map: RelayMap {
        switch self {
        case .kept(let revision): return ["what": "kept", "revision": .integer(revision)]
        case .conflict(let present, let isRemoved):
            return ["what": "conflict", "revision": .integer(present), "removed": .bool(isRemoved)]
        case .documents(let documents, let isAll, let last):
            return [
                "what": "documents", "documents": .array(documents.map { .dictionary($0.map) }), "all": .bool(isAll),
                "last": .integer(last),
            ]
        case .refused(let why): return ["what": "refused", "reason": .string(why.rawValue)]
        }
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        switch try fields.text("what") {
        case "kept": self = .kept(revision: try fields.integer("revision"))
        case "conflict":
            self = .conflict(present: try fields.integer("revision"), isRemoved: try fields.flag("removed"))
        case "documents":
            var documents: [RelaySealedDocument] = []
            for map in try fields.maps("documents", most: 64) { documents.append(try RelaySealedDocument(map)) }
            self = .documents(documents, isAll: try fields.flag("all"), last: try fields.integer("last"))
        case "refused": self = .refused(Refusal(rawValue: try fields.text("reason")) ?? .notKept)
        default: throw fields.fault("what", "kept, conflict, documents or refused")
        }
    }
}

/// A request about documents from an app, or a terminal, to its agent. The result is in the response's message.
public enum RelayDocumentOrder: Hashable, Sendable {
    /// Keep a content under a name. With a revision only where that is the present one, 0 for none that is there.
    case put(name: String, content: RelayMap, revision: Int64?)
    /// Read a document: `name`, `revision` and `content`.
    case get(name: String)
    /// List the documents after a position: `documents`, each with `name`, `revision` and `bytes`, and the number of
    /// `unreadable` ones. Where there are more, `next` is the position to continue at.
    case list(after: Int64)
    /// Remove one. With a revision only where that is the present one.
    case remove(name: String, revision: Int64?)
    /// Report each change from now on by ``RelayNotice/told(request:_:)``: `name`, `revision`, and `content` or that it
    /// is `removed`.
    case watch

    var map: RelayMap {
        var map: RelayMap
        switch self {
        case .put(let name, let content, let revision):
            map = ["what": "put", "name": .string(name), "content": .dictionary(content)]
            map.add("revision", revision.map(RelayValue.integer))
        case .get(let name): map = ["what": "get", "name": .string(name)]
        case .list(let number): map = ["what": "list", "after": .integer(number)]
        case .remove(let name, let revision):
            map = ["what": "remove", "name": .string(name)]
            map.add("revision", revision.map(RelayValue.integer))
        case .watch: map = ["what": "watch"]
        }
        return map
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        switch try fields.text("what") {
        case "put":
            self = .put(
                name: try fields.text("name"), content: try fields.member("content"),
                revision: try fields.optionalInteger("revision"))
        case "get": self = .get(name: try fields.text("name"))
        case "list": self = .list(after: try fields.integer("after", else: 0))
        case "remove":
            self = .remove(name: try fields.text("name"), revision: try fields.optionalInteger("revision"))
        case "watch": self = .watch
        default: throw fields.fault("what", "put, get, list, remove or watch")
        }
    }
}
