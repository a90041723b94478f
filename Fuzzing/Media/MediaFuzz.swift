import AgentProtocol
import Foundation
import PushCore

/// First bytes of files, and the fields by which parts of them are asked for: none may trap, what is known depends on the
/// first bytes alone, and what is sent lies within the file.
enum MediaFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        let format = MediaFormat(head: bytes)
        precondition(format == MediaFormat(head: bytes.prefix(MediaFormat.headLength)), "looks too far")
        if let format { precondition(format.kind.limit > 0 && !format.ending.isEmpty, "no kind") }

        let field = String(decoding: bytes, as: UTF8.self)
        for length in [-1, 0, 1, 10, 52_428_800, .max] as [Int64] {
            guard case .part(let part) = ByteRange(field: field, length: length) else { continue }
            precondition(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= length, "beyond the file")
        }
        let tag = EntityTag("0123456789abcdef")
        if tag.isNamed(inIfNoneMatch: field), field.drop(while: { " \t".contains($0) }) != "*" {
            precondition(Data(field.utf8).range(of: Data(tag.text.utf8)) != nil, "not named")
        }
        _ = tag.allowsRange(ifRange: field)
    }
}
