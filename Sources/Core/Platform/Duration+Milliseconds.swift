extension Duration {
    /// The duration in whole milliseconds, saturated.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, isBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isBeyond ? (seconds < 0 ? .min : .max) : sum
    }
}
