"""Java from the system's packages: the compiler, and JUnit's libraries."""

import shutil
import subprocess
from pathlib import Path

from aldaba_process import REPOSITORY

LIBRARIES = Path("/usr/share/java")
# What the extension is compiled with, and what runs tests besides.
API = ["junit-jupiter-api", "junit-platform-commons", "apiguardian-api", "opentest4j"]
CONSOLE = [
    "junit-jupiter-engine", "junit-platform-engine", "junit-platform-launcher", "junit-platform-console",
    "junit-platform-reporting", "picocli"]
EXTENSION = REPOSITORY / "Packaging/junit5"


def why_not():
    """Why Java's tests cannot run here; empty where they can."""
    if shutil.which("javac") is None:
        return "no Java compiler"
    missing = [name for name in [*API, *CONSOLE] if not jar(name).exists()]
    return f"no {', '.join(missing)} in {LIBRARIES}" if missing else ""


def jar(name):
    return LIBRARIES / f"{name}.jar"


def class_path(*folders):
    return ":".join(map(str, [*folders, *map(jar, API)]))


def compile_java(classes, *sources, path=()):
    """Compiles sources into a folder, with every warning an error."""
    classes.mkdir(exist_ok=True)
    done = subprocess.run(
        ["javac", "-Xlint:all", "-Werror", "-d", str(classes), "-cp", class_path(classes, *path), *map(str, sources)],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return classes


def compile_extension(classes):
    """Compiles the JUnit extension."""
    return compile_java(classes, *sorted((EXTENSION / "src").rglob("*.java")))


def junit_command(classes, *flags):
    """The command that runs every test of a folder of classes."""
    path = ":".join([class_path(classes), *map(str, map(jar, CONSOLE))])
    return ["java", *flags, "-cp", path, "org.junit.platform.console.ConsoleLauncher", "--scan-classpath", str(classes),
            "--disable-banner", "--disable-ansi-colors"]
