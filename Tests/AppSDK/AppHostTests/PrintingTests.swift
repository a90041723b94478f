import AppHost
import CLinux
import Testing

@MainActor struct PrintingTests {
    @Test func `what an app prints is seen line by line, also where no terminal reads it`() {
        let host = AppHost(configuration: AppHostConfiguration(app: "com.example.todo", socketPath: "/nonexistent"))
        host.start()
        #expect(aldaba_prints_by_lines() != 0)
        host.stop()
    }
}
