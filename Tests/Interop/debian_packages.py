"""The Debian packages of what was built, and what is in them."""

import subprocess

from aldaba_process import BINARY, REPOSITORY, clean_environment


def make(folder, bundle="no"):
    """Has `make package` put the packages into a folder; the paths that it prints. `bundle` is its variable BUNDLE."""
    done = subprocess.run(
        ["make", "--silent", "package", f"BUILD={BINARY.parent}", "COMPRESSION=none", f"PACKAGES={folder}",
         f"BUNDLE={bundle}"],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=180, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def fields(package):
    """The control fields of a package file by their names; of a long one its first line."""
    text = subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True).stdout
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith(" "))


def files(package):
    """The files and links of a package file, as paths without the root; a link with its target."""
    listed = subprocess.run(["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True).stdout
    paths = (line.split(maxsplit=5)[5].removeprefix("./") for line in listed.splitlines())
    return {path for path in paths if not path.endswith("/") and path}


def make_single(packages, folder, package):
    """Makes one package `aldaba` of an older version with the files of both."""
    folder.mkdir()
    for file in packages.values():
        subprocess.run(["dpkg-deb", "--extract", file, folder], check=True)
    subprocess.run(["dpkg-deb", "--control", packages["aldaba"], folder / "DEBIAN"], check=True)
    control = folder / "DEBIAN/control"
    version = fields(packages["aldaba"])["Version"]
    depends = fields(packages["aldaba-agent"])["Depends"]
    text = control.read_text().replace(f"Version: {version}", "Version: 0.0.9")
    control.write_text(text.replace(f"aldaba-agent (= {version})", depends))
    (folder / "DEBIAN/md5sums").unlink()
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, package], check=True, capture_output=True)
