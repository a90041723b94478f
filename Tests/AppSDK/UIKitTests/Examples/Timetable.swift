import Foundation
import FoundationNetworking

enum Timetable {
    static func load(from url: URL, then done: @escaping @Sendable (Data?) -> Void) {
        URLSession.shared.dataTask(with: url) { data, _, _ in done(data) }.resume()
    }
}
