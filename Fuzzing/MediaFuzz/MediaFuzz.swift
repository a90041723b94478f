import AgentProtocol
import Foundation
import FuzzDriver
import PushCore

/// First bytes of files, and the fields by which parts of them are asked for: none may trap, what is known depends on the
/// first bytes alone, and what is sent lies within the file.
@main
enum MediaFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                let bytes = Array(UnsafeBufferPointer(start: data, count: count))
                let format = MediaFormat(head: bytes)
                precondition(format == MediaFormat(head: bytes.prefix(MediaFormat.headLength)), "looks too far")
                if let format { precondition(format.kind.limit > 0 && !format.ending.isEmpty, "no kind") }

                let field = String(decoding: bytes, as: UTF8.self)
                for length in [-1, 0, 1, 10, 52_428_800, .max] as [Int64] {
                    guard case .part(let part) = ByteRange(field: field, length: length) else { continue }
                    precondition(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= length, "beyond the file")
                }
                let tag = EntityTag("0123456789abcdef")
                if tag.isNamed(inIfNoneMatch: field), field != "*" {
                    precondition(field.contains(tag.text) || field.contains("*"), "not named")
                }
                _ = tag.allowsRange(ifRange: field)
                return 0
            })
    }
}
