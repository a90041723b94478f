import Crypto
import CryptoExtras
import Foundation
import PushCore

/// A device token as it travels: 32 sealed bytes, 64 hexadecimal digits.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Reads 64 hexadecimal digits of either case; `nil` for anything else.
    package init?(hexadecimal digits: ArraySlice<UInt8>) {
        guard digits.count == 64 else { return nil }
        // A byte that is no digit sets a bit above the low four: one test at the end is enough.
        let (words, faults) = digits.withUnsafeBufferPointer { bytes in
            var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            var faults: UInt8 = 0
            func word(_ start: Int) -> UInt64 {
                var word: UInt64 = 0
                for index in start..<(start + 16) {
                    let digit = Hexadecimal.table[Int(bytes[index])]
                    faults |= digit
                    word = word << 4 | UInt64(digit & 15)
                }
                return word
            }
            words.0 = word(0)
            words.1 = word(16)
            words.2 = word(32)
            words.3 = word(48)
            return (words, faults)
        }
        guard faults < 16 else { return nil }
        self.words = words
    }

    /// Reads 64 hexadecimal digits of either case; `nil` for anything else.
    package init?(text: String) { self.init(hexadecimal: ArraySlice(text.utf8)) }

    /// Takes the 32 bytes; `nil` for any other number of them.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [4 of UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index >> 3] = words[index >> 3] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for word in [words.0, words.1, words.2, words.3] {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String { Hexadecimal.text(bytes) }

    package static func == (left: DeviceToken, right: DeviceToken) -> Bool {
        left.words.0 == right.words.0 && left.words.1 == right.words.1 && left.words.2 == right.words.2
            && left.words.3 == right.words.3
    }

    package func hash(into hasher: inout Hasher) {
        // Sealed bytes are as good as random: two words distinguish tokens.
        hasher.combine(words.0)
        hasher.combine(words.2)
    }
}
