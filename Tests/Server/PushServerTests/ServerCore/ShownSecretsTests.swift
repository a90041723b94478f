import AldabaTestSupport
import PushCore
import PushServer
import Testing

@Test func `a device's secret is not shown with its login`() throws {
    let device = try #require(DeviceID(77))
    let credentials = shown(DeviceCredentials(device: device, secret: 987_654_321))
    let login = shown(DeviceLogin(device: device, secret: 987_654_321, received: []))
    for text in [credentials, login] { #expect(text.contains("77") && !text.contains("987654321")) }
}
