import AldabaTestSupport
import DeviceChannel
import PushCore
import Testing

@Test func `a device's secret is not shown with what it logs in with`() throws {
    let device = try #require(DeviceID(77))
    let credentials = shown(MCSCredentials(device: device, secret: 987_654_321, received: []))
    let login = shown(MCSLogin(device: device, secret: 987_654_321, received: []))
    let directive = shown(MCSServerDirective.authenticate(MCSLogin(device: device, secret: 987_654_321, received: [])))
    for text in [credentials, login, directive] { #expect(text.contains("77") && !text.contains("987654321")) }
}
