import AgentEngine
import Foundation

/// What apps bring along: manifests, formats of texts with the arguments of a payload, spans of the day, names on the bus. None may
/// trap; a manifest that is read is written and read again as the same.
enum ManifestFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        let text = String(decoding: bytes, as: UTF8.self)
        if let manifest = try? AppManifest.read(Data(bytes)) {
            guard let written = try? JSONEncoder().encode(manifest) else {
                preconditionFailure("a manifest that was read cannot be written")
            }
            precondition((try? AppManifest.read(written)) == manifest, "a manifest changed")
        }
        if let hours = QuietHours(text: text) {
            precondition(QuietHours(text: hours.text) == hours, "a span of the day changed")
        }
        _ = BusName.isValid(text)
        ManifestFuzz.fill(text)
    }

    /// The first line is a format, the others its arguments.
    private static func fill(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let arguments = Array(lines.dropFirst())
        let longest = arguments.map(\.utf8.count).max() ?? 0
        let filled = AppStrings.fill(lines[0], arguments)
        precondition(
            filled.utf8.count <= lines[0].utf8.count * max(1, longest), "longer than its format can make it")
        _ = ThreadSummary.fill(lines[0], count: lines.count, names: arguments.joined(separator: ", "))
    }
}
