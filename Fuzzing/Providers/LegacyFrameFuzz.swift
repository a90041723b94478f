import APNsProtocol
import Foundation

/// What an old provider can send, in pieces and whole: both must be read alike.
///
/// The first byte of the input says how the rest is cut. What was read as a push must be written and read again.
enum LegacyFrameFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        LegacyFrameFuzz.feed(Array(input))
    }

    private static func feed(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let rest = input.dropFirst()
        let whole = read(rest, in: max(1, rest.count))
        precondition(read(rest, in: Int(first) + 1) == whole, "pieces are read as the whole is")
        for push in whole.pushes {
            let again = read(push.frame(.items)[...], in: 7)
            precondition(again.pushes == [push] && again.error == nil, "a push is read again as it was written")
        }
    }

    private struct Reading: Equatable {
        var pushes: [LegacyPush] = []
        var error: LegacyError?
    }

    private static func read(_ bytes: ArraySlice<UInt8>, in size: Int) -> Reading {
        var decoder = LegacyFrameDecoder()
        var reading = Reading()
        var rest = bytes
        do throws(LegacyError) {
            while !rest.isEmpty {
                decoder.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let push = try decoder.next() { reading.pushes.append(push) }
            }
        } catch {
            reading.error = error
        }
        return reading
    }
}
