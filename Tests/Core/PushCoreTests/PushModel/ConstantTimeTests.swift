import PushCore
import Testing

@Suite struct ConstantTimeTests {
    @Test func `only lists with the same bytes are equal`() {
        let values: [UInt8] = [0, 1, 2, 3, 127, 128, 254, 255]
        let lists = [[]] + values.map { [$0] } + values.flatMap { first in values.map { [first, $0] } }
        for one in lists {
            for other in lists { #expect(ConstantTime.equal(one, other) == (one == other), "\(one) and \(other)") }
        }
    }

    @Test func `a difference in any byte is found`() {
        let secret = (0..<32).map { UInt8($0 * 7) }
        for place in secret.indices {
            for bit in 0..<8 {
                var other = secret
                other[place] ^= 1 << bit
                #expect(!ConstantTime.equal(secret, other))
            }
        }
    }
}
