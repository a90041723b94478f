import Testing

@testable import LinuxDesktop

/// What windows say about themselves, which may be anything.
struct WindowPropertiesTests {
    private let number: [UInt8] = [0x67, 0x12, 0, 0]

    @Test func `a number has four bytes in this machine's order`() {
        #expect(WindowProperties.number(number) == 0x1267)
        #expect(WindowProperties.number(number + [1, 2, 3, 4]) == 0x1267)
        #expect(WindowProperties.number([1, 2, 3]) == nil)
        #expect(WindowProperties.number([]) == nil)
    }

    @Test func `a process counts where the window is of this machine`() {
        func process(_ bytes: [UInt8]?, _ machine: String?) -> Int32? {
            WindowProperties.process(bytes, machine: machine.map { Array($0.utf8) }, host: "here")
        }
        #expect(process(number, "here") == 0x1267)
        #expect(process(number, "here\0") == 0x1267)
        #expect(process(number, "elsewhere") == nil)
        #expect(process(number, "her") == nil)
        #expect(process(number, nil) == nil)
        #expect(process(nil, "here") == nil)
        #expect(process([0, 0, 0, 0], "here") == nil)
        #expect(process([0xff, 0xff, 0xff, 0xff], "here") == nil)
    }

    @Test func `this machine has a name`() { #expect(!WindowProperties.host.isEmpty) }

    @Test func `a screen is where the environment says, else there is none`() {
        #expect(X11WindowFocusSource(environment: [:]) == nil)
        #expect(X11WindowFocusSource(environment: ["DISPLAY": ""]) == nil)
    }

    @Test(.timeLimit(.minutes(5))) func `a screen that cannot be reached has ended`() async throws {
        let focus = try #require(X11WindowFocusSource(environment: ["DISPLAY": "unix:/nonexistent/screen"]))
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        focus.start { continuation.yield("\($0)") }
        let first = await events.first { _ in true }
        #expect(first?.contains("cannot be reached") == true)
        focus.stop()
    }
}
