import Foundation

/// One thing to do.
struct TodoItem: Codable {
    /// The notification that brought it.
    let name: String
    let title: String
}

/// The things to do, each notification's once; kept as one JSON object a line.
@MainActor
final class TodoStore {
    private(set) var items: [TodoItem] = []
    private var names: Set<String> = []
    private let file: AppendedFile?

    init(path: String?) {
        file = path.flatMap { AppendedFile(path: $0) }
        for line in AppendedFile.lines(of: path) {
            if let item = try? JSONDecoder().decode(TodoItem.self, from: Data(line.utf8)) { keep(item) }
        }
    }

    /// Adds what a notification asks for: its member `todo`, else the fallback. Whether there was anything new.
    @discardableResult
    func add(from userInfo: [AnyHashable: Any], fallback: String?, name: String) -> Bool {
        guard let title = userInfo["todo"] as? String ?? fallback, !names.contains(name) else { return false }
        let item = TodoItem(name: name, title: title)
        keep(item)
        if let line = try? JSONEncoder().encode(item) { file?.append(line: line) }
        return true
    }

    private func keep(_ item: TodoItem) {
        if names.insert(item.name).inserted { items.append(item) }
    }
}
