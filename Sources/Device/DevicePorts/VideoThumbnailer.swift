/// Makes a still picture of what moves, for desktops that show stills only; a port, so that tests need no programs.
package protocol VideoThumbnailer: Sendable {
    /// Whether one could be made of such a file, as far as its name tells: nothing is read for that.
    func canMake(of path: String) -> Bool
    /// Makes the first picture of a file as a PNG. `complete` is called once, on any thread: whether it is there.
    func make(of path: String, at still: String, then complete: @escaping @Sendable (Bool) -> Void)
}
