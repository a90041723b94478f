/// Ids of keys, certificates and teams: ten characters `A-Z0-9`.
package enum RegisterID {
    /// A new one, drawn at random.
    package static func random() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<10).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
    }
}
