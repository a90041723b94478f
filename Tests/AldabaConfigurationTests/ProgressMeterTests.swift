import Testing

@testable import AldabaConfiguration

@Test(
    arguments: [
        (ProgressMeter("waiting"), 0, 1.9, nil), (ProgressMeter("waiting"), 0, 2, "waiting  2 s"),
        (ProgressMeter("reading", unit: .bytes), 5000, 61.9, "reading  4 KiB  61 s"),
        (
            ProgressMeter("making", total: 8, unit: .things("devices")), 4, 3,
            "making  [##########..........] 50 %  4 of 8 devices  3 s"
        ),
        (
            ProgressMeter("making", total: 3, unit: .things("devices")), 9, 3,
            "making  [####################] 100 %  9 of 3 devices  3 s"
        ),
        (ProgressMeter("x\u{1b}y", total: 0, unit: .bytes), 1024, 2, "x\u{fffd}y  1 KiB  2 s"),
    ] as [(ProgressMeter, Int64, Double, String?)])
func `how far something is is told once it takes a while`(
    meter: ProgressMeter, done: Int64, seconds: Double, expected: String?
) {
    #expect(meter.line(done: done, after: .seconds(seconds)) == expected)
}
