import Foundation

/// Reads the members of a frame by their names.
struct RelayFields {
    let map: RelayMap
    /// The name of the frame in a fault.
    let name: String

    init(_ map: RelayMap, _ name: String) {
        self.map = map
        self.name = name
    }

    func fault(_ key: String, _ what: String) -> RelayFault { RelayFault(path: "\(name).\(key)", .member(what)) }

    func text(_ key: String, most: Int = 1024) throws(RelayFault) -> String {
        guard let text = try optionalText(key, most: most) else { throw fault(key, "a text") }
        return text
    }

    func optionalText(_ key: String, most: Int = 1024) throws(RelayFault) -> String? {
        guard let value = map[key] else { return nil }
        guard case .string(let text) = value, text.utf8.count <= most else {
            throw fault(key, "a text of at most \(most) bytes")
        }
        return text
    }

    func integer(_ key: String) throws(RelayFault) -> Int64 {
        guard case .integer(let number)? = map[key] else { throw fault(key, "an integer") }
        return number
    }

    func integer(_ key: String, else plain: Int64) throws(RelayFault) -> Int64 {
        map[key] == nil ? plain : try integer(key)
    }

    func optionalInteger(_ key: String) throws(RelayFault) -> Int64? { map[key] == nil ? nil : try integer(key) }

    func flag(_ key: String) throws(RelayFault) -> Bool {
        guard let value = map[key] else { return false }
        guard case .bool(let isTrue) = value else { throw fault(key, "true or false") }
        return isTrue
    }

    func id(_ key: String) throws(RelayFault) -> UUID {
        guard let id = try optionalID(key) else { throw fault(key, "a UUID") }
        return id
    }

    func optionalID(_ key: String) throws(RelayFault) -> UUID? {
        guard let value = map[key] else { return nil }
        guard case .uuid(let id) = value else { throw fault(key, "a UUID") }
        return id
    }

    func data(_ key: String) throws(RelayFault) -> [UInt8] {
        guard case .data(let bytes)? = map[key] else { throw fault(key, "bytes") }
        return bytes
    }

    func optionalData(_ key: String, most: Int) throws(RelayFault) -> [UInt8] {
        guard map[key] != nil else { return [] }
        let bytes = try data(key)
        guard bytes.count <= most else { throw fault(key, "at most \(most) bytes") }
        return bytes
    }

    func optionalMap(_ key: String) throws(RelayFault) -> RelayMap? {
        guard let value = map[key] else { return nil }
        guard case .dictionary(let map) = value else { throw fault(key, "a dictionary") }
        return map
    }

    func member(_ key: String) throws(RelayFault) -> RelayMap {
        guard let map = try optionalMap(key) else { throw fault(key, "a dictionary") }
        return map
    }

    func texts(_ key: String, most: Int = 64) throws(RelayFault) -> [String] {
        var texts: [String] = []
        for value in try list(key, most: most) {
            guard case .string(let text) = value, text.utf8.count <= 1024 else {
                throw fault(key, "texts of at most 1024 bytes")
            }
            texts.append(text)
        }
        return texts
    }

    func ids(_ key: String, most: Int) throws(RelayFault) -> [UUID] {
        var ids: [UUID] = []
        for value in try list(key, most: most) {
            guard case .uuid(let id) = value else { throw fault(key, "UUIDs") }
            ids.append(id)
        }
        return ids
    }

    func maps(_ key: String, most: Int) throws(RelayFault) -> [RelayMap] {
        var maps: [RelayMap] = []
        for value in try list(key, most: most) {
            guard case .dictionary(let map) = value else { throw fault(key, "dictionaries") }
            maps.append(map)
        }
        return maps
    }

    /// Texts by name, together at most 4 KiB.
    func attributes(_ key: String) throws(RelayFault) -> [String: String] {
        var attributes: [String: String] = [:]
        var size = 0
        for (name, value) in try optionalMap(key) ?? [:] {
            guard case .string(let text) = value else { throw fault(key, "texts by name") }
            size += name.utf8.count + text.utf8.count
            attributes[name] = text
        }
        guard size <= 4096 else { throw fault(key, "texts by name, together at most 4096 bytes") }
        return attributes
    }

    private func list(_ key: String, most: Int) throws(RelayFault) -> [RelayValue] {
        guard let value = map[key] else { return [] }
        guard case .array(let values) = value, values.count <= most else {
            throw fault(key, "an array of at most \(most) values")
        }
        return values
    }
}

extension RelayMap {
    /// Adds a member where there is one.
    mutating func add(_ key: String, _ value: RelayValue?) {
        if let value { self[key] = value }
    }

    /// Adds texts where there are any.
    mutating func add(_ key: String, texts: [String]) {
        if !texts.isEmpty { self[key] = .array(texts.map(RelayValue.string)) }
    }

    /// Adds texts by name where there are any.
    mutating func add(_ key: String, attributes: [String: String]) {
        if !attributes.isEmpty { self[key] = .dictionary(attributes.mapValues(RelayValue.string)) }
    }
}
