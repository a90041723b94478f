import BackgroundTasks

/// Asks for a refresh in an hour; false where the system does no such work.
func scheduleRefresh() -> Bool {
    let request = BGAppRefreshTaskRequest(identifier: "com.example.todo.refresh")
    request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
    do {
        try BGTaskScheduler.shared.submit(request)
        return true
    } catch BGTaskScheduler.Error.unavailable {
        return false
    } catch {
        print("not registered: \(error.localizedDescription)")
        return false
    }
}
