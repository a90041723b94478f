import AgentEngine
import Testing

struct QuietHoursTests {
    @Test(arguments: [
        ("22:00-07:00", 23 * 60, true), ("22:00-07:00", 6 * 60 + 59, true), ("22:00-07:00", 7 * 60, false),
        ("22:00-07:00", 22 * 60, true), ("09:00-17:00", 12 * 60, true), ("09:00-17:00", 8 * 60, false),
        ("00:00-23:59", 23 * 60 + 59, false),
    ])
    func `a span may pass midnight`(text: String, minute: Int, isWithin: Bool) throws {
        let hours = try #require(QuietHours(text: text))
        #expect(hours.contains(minute: minute) == isWithin && hours.text == text)
    }

    @Test(arguments: ["", "22:00", "22:00-", "24:00-07:00", "22:60-07:00", "7:00-8:00", "07:00-07:00", "a-b", "1-2-3"])
    func `what is no span is none`(text: String) { #expect(QuietHours(text: text) == nil) }
}
