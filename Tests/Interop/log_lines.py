"""The lines of a program's log, as the programs here write them: time, level, who, and what happened."""

import re
from pathlib import Path

LEVELS = ("trace", "debug", "info", "notice", "warning", "error", "critical")
LINE = re.compile(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\S* (?P<level>{'|'.join(LEVELS)}) [\w.-]+ ?:.*")


class Log:
    """A log file that grows; what it holds already is passed over."""

    def __init__(self, path):
        self.path = Path(path)
        self._begin = len(self._all())

    def _all(self):
        return self.path.read_text(errors="replace").splitlines() if self.path.exists() else []

    def lines(self):
        return self._all()[self._begin:]

    def of(self, *levels):
        """The lines of these levels."""
        return [line for line in self.lines() if (found := LINE.match(line)) and found["level"] in levels]

    def no_lines(self):
        """What stands where a line should begin, and begins none."""
        return [line for line in self.lines() if not LINE.match(line)]
