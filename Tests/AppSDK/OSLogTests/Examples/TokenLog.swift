import OSLog

let log = Logger(subsystem: "com.example.todo", category: "push")

func note(token: String, count: Int) {
    log.notice("the token \(token) is for \(count) lists")
    log.info("sent to \("example.com", privacy: .public)")
}
