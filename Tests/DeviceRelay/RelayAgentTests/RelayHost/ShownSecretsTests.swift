import AldabaTestSupport
import Foundation
import RelayAgent
import Testing

@Test func `a device's key and its account's are not shown with its settings`() throws {
    let account = AccountKey()
    var settings = RelaySettings(name: "desk", account: account)
    settings.deviceKey = [UInt8](repeating: 217, count: 32)
    let text = shown(settings)
    #expect(text.contains("desk") && text.contains("<redacted>"))
    #expect(!text.contains("217") && !text.contains(account.text))
    // What is kept has them.
    let kept = try JSONEncoder().encode(settings)
    #expect(String(decoding: kept, as: UTF8.self).contains("217"))
    #expect(try JSONDecoder().decode(RelaySettings.self, from: kept) == settings)
}
