/// Cuts bytes that arrive in any pieces into lines; a line beyond the limit is cut there.
struct LineSplitter {
    private var pending: [UInt8] = []
    let limit: Int

    init(limit: Int = 65_536) { self.limit = limit }

    /// Takes a piece and gives the lines that it completes, without their line feeds.
    mutating func append(_ bytes: some Collection<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == 10 || pending.count >= limit {
                lines.append(String(decoding: pending, as: UTF8.self))
                pending.removeAll(keepingCapacity: true)
            }
            if byte != 10 { pending.append(byte) }
        }
        return lines
    }
}
