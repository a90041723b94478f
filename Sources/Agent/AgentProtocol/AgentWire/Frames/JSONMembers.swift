/// Finds the positions of a JSON object's members in its text.
///
/// It is for texts that a decoder has already parsed: values are skipped without examining them.
enum JSONMembers {
    /// The places of the values, by their keys.
    ///
    /// - Returns: `nil` where a decoder may read the text differently: a key occurs twice or contains an escape, or the
    ///   text is no object in UTF-8.
    static func find(in text: ArraySlice<UInt8>) -> [String: Range<Int>]? {
        var scanner = Scanner(text: text)
        return scanner.object()
    }

    private struct Scanner {
        let text: ArraySlice<UInt8>
        var place: Int

        init(text: ArraySlice<UInt8>) {
            self.text = text
            place = text.startIndex
        }

        private var next: UInt8? { place < text.endIndex ? text[place] : nil }

        mutating func object() -> [String: Range<Int>]? {
            var members: [String: Range<Int>] = [:]
            guard take(UInt8(ascii: "{")) else { return nil }
            if take(UInt8(ascii: "}")) { return members }
            repeat {
                skipBlanks()
                guard let key = string(), take(UInt8(ascii: ":")) else { return nil }
                let bytes = text[key].dropFirst().dropLast()
                guard !bytes.contains(UInt8(ascii: "\\")), let value = value(),
                    members.updateValue(value, forKey: String(decoding: bytes, as: UTF8.self)) == nil
                else { return nil }
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "}")) ? members : nil
        }

        /// The place of the next value, with all that is in it.
        private mutating func value() -> Range<Int>? {
            skipBlanks()
            let start = place
            var depth = 0
            while let byte = next {
                switch byte {
                case UInt8(ascii: "\""):
                    guard string() != nil else { return nil }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return start..<place }
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0: return start..<place
                case let byte where depth == 0 && Self.isBlank(byte): return start..<place
                default: break
                }
                place += 1
            }
            return nil
        }

        /// The place of a string with its quotation marks.
        private mutating func string() -> Range<Int>? {
            guard next == UInt8(ascii: "\"") else { return nil }
            let start = place
            place += 1
            while let byte = next {
                place += 1
                if byte == UInt8(ascii: "\"") { return start..<place }
                if byte == UInt8(ascii: "\\"), next != nil { place += 1 }
            }
            return nil
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            skipBlanks()
            guard next == byte else { return false }
            place += 1
            return true
        }

        private mutating func skipBlanks() { while let byte = next, Self.isBlank(byte) { place += 1 } }

        private static func isBlank(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        }
    }
}
