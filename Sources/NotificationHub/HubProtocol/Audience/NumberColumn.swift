/// A number for each installation, 0 for none, in blocks: changing a copy copies one block.
struct NumberColumn: Sendable {
    private static let block = 4096
    private var blocks: [[UInt32]] = []

    /// The number of an installation.
    subscript(number: UInt32) -> UInt32 {
        get {
            let place = Int(number) / Self.block
            guard place < blocks.count, !blocks[place].isEmpty else { return 0 }
            return blocks[place][Int(number) % Self.block]
        }
        set {
            let place = Int(number) / Self.block
            if place >= blocks.count { blocks += Array(repeating: [], count: place + 1 - blocks.count) }
            if blocks[place].isEmpty { blocks[place] = Array(repeating: 0, count: Self.block) }
            blocks[place][Int(number) % Self.block] = newValue
        }
    }

    /// About how many bytes it takes.
    var memory: Int { blocks.reduce(0) { $0 + 40 + $1.capacity * 4 } }
}
