/// Makes a still picture of what moves, for desktops that show stills only; a port, so that tests need no programs.
package protocol VideoThumbnailer: Sendable {
    /// Whether a thumbnail could be made of such a file, judged by its name: nothing is read for that.
    func canMake(of path: String) -> Bool
    /// Makes the first picture of a file as a PNG. `complete` is called once, on any thread: whether it is there.
    func make(of path: String, at still: String, then complete: @escaping @Sendable (Bool) -> Void)
}
