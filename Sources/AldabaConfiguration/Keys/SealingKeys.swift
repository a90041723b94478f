import Foundation
import PushCore

/// The keys that seal device tokens: 32 bytes each as 64 hexadecimal digits, one a line, the current one first.
package enum SealingKeys {
    /// A fault in a file of keys.
    package struct Unreadable: Error, CustomStringConvertible {
        /// The file of keys.
        package var path: String
        /// The line that is no key, counted from 1.
        package var line: Int

        /// The file, the line, and what would be right. Never the key.
        package var description: String {
            "\(path):\(line): this is no key; a line holds 64 hexadecimal digits. Without the right keys the device "
                + "tokens given out so far are worthless, so restore the file from a copy"
        }
    }

    /// Reads the keys; makes the file with one random key where there is none.
    package static func ensure(_ path: String) throws -> Secret<[[UInt8]]> {
        guard let text = try PrivateFile.secret(path)?.wrappedValue else {
            var generator = SystemRandomNumberGenerator()
            let key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            try PrivateFile.write(Array((key.hexadecimal + "\n").utf8), to: path)
            return Secret([key])
        }
        var keys: [[UInt8]] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let digits = Array(line.utf8)
            if digits.isEmpty { continue }
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
            }
            guard digits.count == 64, bytes.count == 32 else { throw Unreadable(path: path, line: index + 1) }
            keys.append(bytes)
        }
        guard !keys.isEmpty else { throw Unreadable(path: path, line: 1) }
        return Secret(keys)
    }
}
