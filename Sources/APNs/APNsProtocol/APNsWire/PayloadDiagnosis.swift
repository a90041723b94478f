import PushCore

/// A fault by which a payload does not do what its author meant: its place, the text there, and the intended text.
///
/// It is for authors of payloads. A server accepts whatever APNs accepts, and uses ``JSONScanner`` alone. The messages
/// quote names and single characters of the payload, never its texts.
package struct PayloadDiagnosis: Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1. A line ends with a line feed.
    package var line: Int
    /// The column, from 1, counted in Unicode scalars.
    package var column: Int
    /// The text found there.
    package var what: String
    /// The text that was probably intended; `nil` where that cannot be determined.
    package var meant: String?

    /// The sentence for people: `line 1, column 8: a comma before '}'; leave the comma out`.
    package var description: String { "line \(line), column \(column): \(what)\(meant.map { "; \($0)" } ?? "")" }

    /// Judges a payload; `nil` when nothing is wrong with it.
    ///
    /// First comes what makes it no JSON object; then what Apple's systems would pass over in silence, such as an
    /// `aps` that is a string. A payload without `aps` passes where nothing in it looks like a part of one.
    /// - Parameter pushType: The types whose payloads have other rules are asked for JSON alone.
    package init?(_ payload: [UInt8], pushType: PushType? = nil) {
        let finding: Finding?
        if let fault = JSONScanner.fault(inObject: payload) {
            finding = PayloadSyntax(payload, fault).finding
        } else if pushType.showsByPayload, let object = LocatedJSON(object: payload) {
            finding = PayloadWarnings(object).finding
        } else {
            finding = nil
        }
        guard let finding else { return nil }
        let before = payload[..<min(max(0, finding.offset), payload.count)]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        line = before.count(where: { $0 == 0x0A }) + 1
        column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
        what = finding.what
        meant = finding.meant
    }

    /// The note in the timeline of an accepted notification whose payload has no `aps`; `nil` where none is needed.
    package static func note(on scan: JSONScanner.ScanResult, pushType: PushType?) -> String? {
        guard scan.fault == nil, !scan.namesAPS, pushType.showsByPayload else { return nil }
        return "the payload has no \"aps\": the device shows nothing for it"
    }

    /// A diagnosis whose place is still an offset in bytes.
    struct Finding {
        var offset: Int
        var what: String
        var meant: String?
    }
}

extension PushType? {
    /// Whether `aps` determines what the device does. Payloads of the other types are read by an app's extension, or by
    /// the system.
    fileprivate var showsByPayload: Bool {
        switch self {
        case nil, .alert, .background: true
        default: false
        }
    }
}
