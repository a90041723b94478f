import PushCore

/// The header fields of a device push, found in one pass and checked on demand.
///
/// Each check is a step of its own, so that the endpoint decides their order. Source: Apple, "Sending notification
/// requests to APNs". Unknown fields are ignored; field values keep their case.
package struct APNsRequestHead {
    /// The fields that APNs knows, each with its place in the block.
    private enum Known: Int, CaseIterable {
        case method, path, authorization, id, topic, pushType, expiration, priority, collapseID
    }

    private let block: HeaderBlock
    /// The index of each known field, -1 when absent.
    private var places: [9 of Int32] = [-1, -1, -1, -1, -1, -1, -1, -1, -1]
    /// The first APNs field that appears twice.
    private var duplicate: Int32 = -1

    /// Finds the known fields. Costs one pass and no allocation.
    package init(_ block: HeaderBlock) {
        self.block = block
        for index in 0..<block.count {
            guard let known = Self.known(block, index) else { continue }
            if places[known.rawValue] < 0 {
                places[known.rawValue] = Int32(index)
            } else if duplicate < 0 {
                duplicate = Int32(index)
            }
        }
    }

    private static func known(_ block: HeaderBlock, _ index: Int) -> Known? {
        block.withField(index) { name, _ -> Known? in
            // The lengths distinguish all but a few names; the bytes are compared once.
            switch name.count {
            case 5: equal(name, ":path") ? .path : nil
            case 7: equal(name, ":method") ? .method : equal(name, "apns-id") ? .id : nil
            case 10: equal(name, "apns-topic") ? .topic : nil
            case 13:
                equal(name, "authorization") ? .authorization : equal(name, "apns-priority") ? .priority : nil
            case 14: equal(name, "apns-push-type") ? .pushType : nil
            case 15: equal(name, "apns-expiration") ? .expiration : nil
            case 16: equal(name, "apns-collapse-id") ? .collapseID : nil
            default: nil
            }
        }
    }

    private static func equal(_ name: UnsafeBufferPointer<UInt8>, _ expected: StaticString) -> Bool {
        for index in 0..<name.count where name[index] != expected.utf8Start[index] { return false }
        return true
    }

    private func value(_ field: Known) -> ArraySlice<UInt8>? {
        let place = places[field.rawValue]
        return place < 0 ? nil : block.value(Int(place))
    }

    private func text(_ field: Known) -> String? { value(field).map { String(decoding: $0, as: UTF8.self) } }

    // MARK: Steps

    /// Whether the method is POST.
    package var isPost: Bool { value(.method)?.elementsEqual("POST".utf8) ?? false }

    /// Whether the method is HEAD, whose answer has no body.
    package var isHead: Bool { value(.method)?.elementsEqual("HEAD".utf8) ?? false }

    /// Whether this is `GET /`, which people send who open the address.
    package var asksForRoot: Bool {
        (value(.method)?.elementsEqual("GET".utf8) ?? false) && (value(.path)?.elementsEqual("/".utf8) ?? false)
    }

    /// The token's place in the path.
    package enum Path: Hashable {
        /// `/3/device/` with this text behind it, which may be anything but contains no further slash.
        case device(ArraySlice<UInt8>)
        /// `/3/device` or `/3/device/`, with no token.
        case deviceWithoutToken
        /// Any other path: `BadPath`.
        case other
    }

    /// Reads the path, which may be percent-encoded. A query is part of no path that APNs has.
    package var path: Path {
        guard let sent = value(.path) else { return .other }
        let path = sent.contains(UInt8(ascii: "%")) ? PlainPath.bytes(sent)[...] : sent
        let prefix = "/3/device"
        guard path.starts(with: prefix.utf8) else { return .other }
        let rest = path.dropFirst(prefix.utf8.count)
        guard let slash = rest.first else { return .deviceWithoutToken }
        guard slash == UInt8(ascii: "/") else { return .other }
        let token = rest.dropFirst()
        if token.isEmpty { return .deviceWithoutToken }
        return token.contains(UInt8(ascii: "/")) ? .other : .device(token)
    }

    /// The credential's bytes, without blanks around them (RFC 9110, section 5.5). A script whose variable is empty sends
    /// `bearer ` without a token.
    package var authorization: ArraySlice<UInt8>? {
        guard var value = value(.authorization) else { return nil }
        while let first = value.first, Self.isBlank(first) { value.removeFirst() }
        while let last = value.last, Self.isBlank(last) { value.removeLast() }
        return value
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F }

    /// Whether a known field's value has bytes that HTTP forbids. Each of these fields has a reason for that.
    package var hasIllegalValue: Bool {
        Known.allCases.contains { value($0)?.contains(where: Self.isControl) ?? false }
    }

    /// Whether there is an `apns-topic`, right or wrong.
    package var hasTopic: Bool { places[Known.topic.rawValue] >= 0 }

    /// The refusal for a repeated field, if there is one.
    package var duplicateRefusal: APNsRejection? {
        duplicate < 0 ? nil : APNsRejection(.duplicateHeaders, note: "\(block.text(Int(duplicate))) appears twice")
    }

    /// The bytes of `apns-id`, as sent, where an answer may repeat them: at most 64, readable, without blanks around them.
    ///
    /// Apple: a rejected request is answered with the same value. Clients find their request by it, whatever it is.
    package var echoedID: ArraySlice<UInt8>? {
        guard let id = value(.id), let first = id.first, let last = id.last, id.count <= 64 else { return nil }
        guard !Self.isBlank(first), !Self.isBlank(last), !id.contains(where: Self.isControl),
            String(validating: id, as: UTF8.self) != nil
        else { return nil }
        return id
    }

    /// `apns-id` when it is a well-formed UUID.
    package var validAPNsID: APNsID? {
        value(.id).flatMap { Self.isUUID($0) ? APNsID(rawValue: String(decoding: $0, as: UTF8.self)) : nil }
    }

    /// The header fields' meaning.
    ///
    /// - Throws: the refusal for the first field that is malformed, in the order in which APNs lists them.
    package func fields() throws(APNsRejection) -> Fields {
        if let id = value(.id), !Self.isUUID(id) {
            throw APNsRejection(.badMessageId, note: "apns-id \(Self.quoted(id)) is not a UUID in the form 8-4-4-4-12")
        }
        let fields = Fields(
            apnsID: text(.id).map(APNsID.init(rawValue:)), expiry: try expiry(), priority: try priority(),
            collapseID: try collapseID(),
            pushType: try pushType())
        // A request without a priority has 10 as well, and some libraries send silent ones so.
        if fields.pushType == .background, fields.priority == .immediate, value(.priority) != nil {
            throw APNsRejection(.badPriority, note: "apns-priority must be 5 with apns-push-type background, not 10")
        }
        return fields
    }

    /// The values of the header fields.
    package struct Fields: Hashable, Sendable {
        /// `apns-id` as sent, a well-formed UUID; `nil` when absent.
        package var apnsID: APNsID?
        /// The value of `apns-expiration`.
        package var expiry: Expiry
        /// The value of `apns-priority`; ``Priority/immediate`` when absent.
        package var priority: Priority
        /// `apns-collapse-id`, 1 to 64 bytes of UTF-8; `nil` when absent.
        package var collapseID: String?
        /// `apns-push-type`; `nil` when absent.
        package var pushType: PushType?
    }

    func expiry() throws(APNsRejection) -> Expiry {
        guard let text = value(.expiration) else { return .policyDefault }
        guard let seconds = Self.wholeNumber(text) else {
            throw APNsRejection(
                .badExpirationDate, note: "apns-expiration \(Self.quoted(text)) is not whole seconds since 1970")
        }
        return seconds == 0 ? .once : .until(Timestamp(seconds: seconds))
    }

    func priority() throws(APNsRejection) -> Priority {
        guard let text = value(.priority) else { return .immediate }
        guard let number = Self.wholeNumber(text), let priority = UInt8(exactly: number).flatMap(Priority.init) else {
            throw APNsRejection(.badPriority, note: "apns-priority \(Self.quoted(text)) is not 10, 5 or 1")
        }
        return priority
    }

    private func collapseID() throws(APNsRejection) -> String? {
        guard let bytes = value(.collapseID) else { return nil }
        guard bytes.count <= 64 else {
            throw APNsRejection(
                .badCollapseId, note: "apns-collapse-id has \(bytes.count) bytes, at most 64 are allowed")
        }
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            throw APNsRejection(.badCollapseId, note: "apns-collapse-id is empty or not UTF-8")
        }
        guard !bytes.contains(where: Self.isControl) else {
            throw APNsRejection(.badCollapseId, note: "apns-collapse-id has a control character, such as a line feed")
        }
        return text
    }

    private func pushType() throws(APNsRejection) -> PushType? {
        guard let text = text(.pushType) else { return nil }
        guard let type = PushType(rawValue: text) else {
            throw APNsRejection(.invalidPushType, note: "apns-push-type '\(text.prefix(40))' is not a known push type")
        }
        return type
    }

    /// The topic as it was sent; empty when there is none.
    package var topicText: String { text(.topic) ?? "" }

    /// The topic's bytes.
    ///
    /// - Throws: `MissingTopic` or `BadTopic`.
    package func topic() throws(APNsRejection) -> ArraySlice<UInt8> {
        guard let bytes = value(.topic) else { throw APNsRejection(.missingTopic, note: "apns-topic is absent") }
        guard !bytes.isEmpty, bytes.count <= 255 else {
            throw APNsRejection(.badTopic, note: "apns-topic has \(bytes.count) bytes, 1 to 255 are allowed")
        }
        guard Topic.hasShape(bytes) else {
            throw APNsRejection(.badTopic, note: "apns-topic may have letters, digits, '.', '-' and '_' only")
        }
        return bytes
    }

    // MARK: Shapes

    /// Digits only, no sign, no white space, within `Int64`.
    private static func wholeNumber(_ text: ArraySlice<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= 19 else { return nil }
        var value: Int64 = 0
        for byte in text {
            guard (0x30...0x39).contains(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowToo) = product.addingReportingOverflow(Int64(byte - 0x30))
            if overflow || overflowToo { return nil }
            value = sum
        }
        return value
    }

    /// 8-4-4-4-12 hexadecimal digits, either case.
    package static func isUUID(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count == 36 else { return false }
        for (position, byte) in bytes.enumerated() {
            switch position {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default: if Hexadecimal.value(byte) == nil { return false }
            }
        }
        return true
    }

    /// A value for a note: cut, and only its printable part.
    private static func quoted(_ bytes: ArraySlice<UInt8>) -> String {
        "'\(String(decoding: bytes.prefix(60).filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self))'"
    }
}
