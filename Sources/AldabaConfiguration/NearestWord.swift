/// Finds the intended name for a misspelt one.
package enum NearestWord {
    /// The known name that is nearest to a misspelt one; `nil` when none is near enough to have been intended.
    ///
    /// A name of three characters may differ in one place, a long one in up to three.
    package static func to(_ word: String, among known: some Sequence<String>) -> String? {
        let near = known.map { ($0, distance($0, word)) }.min { $0.1 < $1.1 }
        guard let near, near.1 <= max(1, min(3, word.count / 3)) else { return nil }
        return near.0
    }

    /// The parser's sentence on an unknown option, without a suggestion that is too far from it to make sense.
    package static func sensible(_ message: String) -> String {
        guard let match = message.firstMatch(of: /Unknown option '-*([^']+)'(\. Did you mean '-*([^']+)'\?)/),
            to(String(match.1), among: [String(match.3)]) == nil
        else { return message }
        return message.replacingCharacters(in: match.2.startIndex..<match.2.endIndex, with: "")
    }

    /// The number of characters that must be changed, added, removed or exchanged with the next one to turn one name into
    /// the other (the restricted distance of Damerau and Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.prefix(64)), Array(right.prefix(64)))
        var rows = [Array(0...right.count)]
        for (i, character) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (character == other ? 0 : 1))
                if i > 0, j > 0, character == right[j - 1], left[i - 1] == other {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
