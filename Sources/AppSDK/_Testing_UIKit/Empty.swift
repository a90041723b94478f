// The toolchain imports a module of this name wherever Testing and UIKit are imported together; it needs nothing in it.
