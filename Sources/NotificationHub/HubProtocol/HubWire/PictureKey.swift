import APNsProtocol
import PushCore

/// A member of a payload in which a service extension finds the picture or film. Its text is the path of the member.
package enum PictureKey: String, CaseIterable, Sendable {
    /// The member that AldabaRichPush and many extensions of apps' own read.
    case attachmentURL = "attachment-url"
    /// The member that Braze's extension reads, with the type of the file.
    case braze = "ab.att"
    /// The member that Firebase's extension reads; it takes pictures alone.
    case firebase = "fcm_options.image"
    /// The member that OneSignal's extension reads.
    case oneSignal = "att"

    /// Reads a list of keys; `nil` where there is none.
    ///
    /// - Throws: The path of the fault, and the keys that exist.
    static func read(_ value: JSONValue?, at path: String) throws(InstallationError) -> [PictureKey]? {
        guard let value, value != .null else { return nil }
        let keys = value.items?.compactMap { $0.text.flatMap(PictureKey.init) }
        guard let keys, keys.count == value.items?.count else {
            throw InstallationError(path, "this is to be a list of some of \(names)")
        }
        return keys
    }

    /// Parses keys separated by commas; `nil` for a text with anything else.
    package static func list(_ text: String) -> [PictureKey]? {
        let names = text.split(separator: ",")
        let keys = names.compactMap { PictureKey(rawValue: String($0)) }
        return keys.count == names.count ? keys : nil
    }

    /// All keys, for messages.
    package static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// The name of the outermost member.
    var name: String { String(rawValue.prefix { $0 != "." }) }

    /// The member for a content; `nil` where the extension could not show its file.
    func member(image: String?, video: String?) -> JSONValue.Member? {
        guard let file = video ?? image else { return nil }
        switch self {
        case .attachmentURL: return .init(name, .string(file))
        case .braze:
            let type = Self.ending(of: file) ?? (video == nil ? "jpg" : "mp4")
            return .init(
                name, .object([.init("att", .object([.init("url", .string(file)), .init("type", .string(type))]))]))
        case .firebase: return image.map { .init(name, .object([.init("image", .string($0))])) }
        case .oneSignal: return .init(name, .object([.init("file", .string(file))]))
        }
    }

    /// The ending of the file that an address names, in lower case; `nil` where it has none.
    private static func ending(of address: String) -> String? {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").dropFirst(2).last?.split(separator: ".") ?? []
        guard parts.count > 1, let ending = parts.last?.lowercased(), ending.utf8.count <= 4,
            ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return nil }
        return ending == "jpeg" ? "jpg" : ending
    }
}

extension JSONValue {
    /// A campaign's document in which each content with a picture or film names these keys, unless it names others.
    package func choosing(_ keys: [PictureKey]?) -> JSONValue {
        guard let keys else { return self }
        var document = self
        if let content = self["content"] { document.set("content", content.naming(keys)) }
        guard var experiment = self["experiment"], let variants = experiment["variants"]?.items else { return document }
        experiment.set(
            "variants",
            .array(
                variants.map { variant in
                    var variant = variant
                    if let content = variant["content"] { variant.set("content", content.naming(keys)) }
                    return variant
                }))
        document.set("experiment", experiment)
        return document
    }

    private func naming(_ keys: [PictureKey]) -> JSONValue {
        guard self["image"] != nil || self["video"] != nil, self["pictureKeys"] == nil else { return self }
        var content = self
        content.set("pictureKeys", .array(keys.map { .string($0.rawValue) }))
        return content
    }
}

extension CampaignContent {
    /// The members in which service extensions find the picture or film.
    ///
    /// Without a choice, all keys are taken that fit into Apple's limit and whose names are free. Firebase's has no
    /// picture then where there is a film, since an extension that reads several keys would attach both.
    ///
    /// - Parameter members: The other members of the payload.
    func pictures(beside members: [JSONValue.Member]) -> [JSONValue.Member] {
        var bytes = JSONValue.object(members).bytes.count
        var found: [JSONValue.Member] = []
        for key in pictureKeys ?? PictureKey.allCases where !members.contains(where: { $0.name == key.name }) {
            guard let member = key.member(image: image, video: video) else { continue }
            // Its two braces are not written; a comma is.
            let size = JSONValue.object([member]).bytes.count - 1
            if pictureKeys == nil, key != .attachmentURL {
                guard bytes + size <= APNsPayloadLimit.bytes(for: nil), key != .firebase || video == nil else {
                    continue
                }
            }
            bytes += size
            found.append(member)
        }
        return found
    }
}
