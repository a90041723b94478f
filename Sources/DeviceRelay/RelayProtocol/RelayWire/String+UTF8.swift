extension String {
    /// The text that bytes are; `nil` where they are not UTF-8.
    ///
    /// The standard library's `init(validating:as:)` is for every encoding, and takes several times as long.
    init?(validUTF8 bytes: ArraySlice<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
        self.init(copying: text)
    }
}
