"""Debian's Chromium without a window, driven over its own pipe (the DevTools protocol): what a person at a page does."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

from aldaba_process import clean_environment
from waiting import TimedOut, wait_until

CHROMIUM = shutil.which("chromium")
SECONDS = 40


class Browser:
    """A running Chromium with one page."""

    def __init__(self, folder, language="en"):
        home = folder / "home"
        home.mkdir()
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--remote-debugging-pipe", f"--accept-lang={language}", f"--user-data-dir={folder / 'profile'}", "about:blank"]
        with open(folder / "chromium.log", "wb") as log:
            # Chromium reads commands from descriptor 3 and writes answers to 4.
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash", CHROMIUM, *options],
                pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=clean_environment(HOME=str(home)))
        os.close(commands)
        os.close(answers)
        self._number, self._rest, self._session = 0, b"", None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" not in self._rest:
                if not select.select([self._answers], [], [], max(0, deadline - time.monotonic()))[0]:
                    raise TimedOut(f"Chromium has not answered {method}")
                piece = os.read(self._answers, 1 << 20)
                assert piece, f"Chromium ended at {method}"
                self._rest += piece
            text, self._rest = self._rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def open(self, address):
        """Goes to an address as if it had been typed."""
        self._call("Page.navigate", url=address)

    def read(self, script):
        """The value of an expression in the page; `None` while the page is exchanged."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, userGesture=True)
        return None if "exceptionDetails" in answer else answer["result"].get("value")

    def wait_for(self, script, what):
        """Waits until an expression in the page is true."""
        return wait_until(lambda: self.read(script), f"{what}; the page has: {self.text()}", SECONDS)

    def text(self):
        return self.read("document.body.innerText")

    def wait_for_text(self, text):
        return self.wait_for(f"document.body.innerText.includes({json.dumps(text)})", f"the page says {text!r}")

    def press(self, label, near=""):
        """Presses a button or link by its label; with `near` that in the article or list which has this text."""
        script = f"""(() => {{
          const all = [...document.querySelectorAll("button, a")].filter((each) => each.textContent.trim() === {json.dumps(label)});
          const found = all.find((each) => (each.closest("article, li") ?? document.body).innerText.includes({json.dumps(near)}));
          if (!found) return false;
          document.documentElement.dataset.pressed = "yes";
          found.click();
          return true;
        }})()"""
        self.wait_for(script, f"there is {label!r} near {near!r}")
        self.wait_for("!document.documentElement.dataset.pressed && document.readyState === 'complete'", f"{label!r} has led on")

    def type(self, selector, text):
        """Types a text into a field."""
        self.wait_for(f"(document.querySelector({json.dumps(selector)})?.focus(), true)", f"there is {selector}")
        self._call("Input.insertText", text=text)

    def click(self, selector):
        """Clicks a field, such as a switch."""
        self.wait_for(f"(document.querySelector({json.dumps(selector)}).click(), true)", f"there is {selector}")

    def look(self, width, height, scale):
        """The page in a window of this size, as a PNG file's bytes with so many pixels for each of the page's."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        os.close(self._commands)
        os.close(self._answers)
