import AldabaTestSupport
import ControlAPI
import Logging
import PushCore
import PushServer
import Testing

@Test func `the enrolment key is shown neither with the access, nor the services, nor the listener`() {
    let access = EnrolmentAccess.key(Secret("key-of-enrolment"))
    let services = FakeServer().services(access)
    let listener = ControlListener(.development(services), port: 0, logger: Logger(label: "test")) { _ in }
    for text in [shown(access), shown(services), shown(listener)] { #expect(!text.contains("key-of-enrolment")) }
    // A service group logs its services by their text.
    #expect("\(listener)" == "control API for development")
}
