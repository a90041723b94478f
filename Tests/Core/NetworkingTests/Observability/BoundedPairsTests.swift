import Networking
import Testing

@Suite struct BoundedPairsTests {
    @Test func `a first value has so many seconds, and for the others one`() {
        var pairs = BoundedPairs(perFirst: 8, limit: 64)
        for number in 0..<8 { #expect(pairs.labels("a", "\(number)") == ("a", "\(number)")) }
        #expect(pairs.labels("a", "later") == ("a", "other"))
        #expect(pairs.labels("a", "0") == ("a", "0"))
        #expect(pairs.labels("b", "none") == ("b", "none"))
    }

    @Test func `beyond so many pairs everything new is one, and what was there goes on`() {
        var pairs = BoundedPairs(perFirst: 8, limit: 3)
        for number in 0..<3 { #expect(pairs.labels("app\(number)", "1") == ("app\(number)", "1")) }
        #expect(pairs.labels("late", "1") == ("other", "other"))
        #expect(pairs.labels("app0", "2") == ("app0", "other"))
        #expect(pairs.labels("app1", "1") == ("app1", "1"))
    }

    @Test func `what is not told of has no labels of its own`() {
        var pairs = BoundedPairs(perFirst: 8, limit: 64)
        #expect(pairs.labels(nil, "1.0") == ("other", "other"))
    }
}
