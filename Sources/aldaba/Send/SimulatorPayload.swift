import AldabaConfiguration
import PushCore

/// A payload with the app that it is for, as a file `.apns` for Xcode's simulator has it.
struct SimulatorPayload {
    /// The payload without the member that names the app.
    var payload: [UInt8]
    /// The app's bundle id; `nil` where the file names none.
    var target: String?

    /// The member that names the app.
    static let member = "Simulator Target Bundle"

    /// Takes a payload and its app.
    init(payload: [UInt8], target: String?) {
        self.payload = payload
        self.target = target
    }

    /// Reads the content of a file; one that is no JSON object is left to the check of payloads.
    ///
    /// - Throws: ``CommandError`` for a member that is no bundle id.
    init(file: [UInt8]) throws {
        // The fault of a text that is no JSON is told, with its place, by the check of payloads.
        guard var tree = try? JSONValue(object: file), let value = tree[Self.member] else {
            self.init(payload: file, target: nil)
            return
        }
        guard let target = value.text, !target.isEmpty else {
            throw CommandError(.invalidInput, "--payload: \"\(Self.member)\" is a bundle id, not \(value.kind)")
        }
        tree.set(Self.member, nil)
        self.init(payload: tree.bytes, target: target)
    }
}
