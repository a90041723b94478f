"""A service extension in another language: what it does, the notification's title says.

The agent starts it like any other. It appends one JSON line for each start to the file that `EXTENSION_NOTES` names.
"""

import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import time


def receive(stream):
    header = stream.read(4)
    if len(header) < 4:
        sys.exit(0)
    return json.loads(stream.read(struct.unpack(">I", header)[0]))


def main():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(os.environ["ALDABA_AGENT_SOCKET"])
    stream = connection.makefile("rb")

    def send(message):
        body = json.dumps(message).encode()
        connection.sendall(struct.pack(">I", len(body)) + body)

    def note(**facts):
        with open(os.environ["EXTENSION_NOTES"], "a") as notes:
            notes.write(json.dumps({"process": os.getpid(), **facts}) + "\n")

    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines() if ":" in line)
    note(
        started=True, privileges=status["NoNewPrivs"].strip(), folder=os.environ["TMPDIR"],
        variables=sorted(name for name in os.environ if name.startswith("ALDABA_")),
        session=os.getsid(0), descriptors=sorted(os.listdir("/proc/self/fd")))
    send({"type": "hello", "version": 1, "app": os.environ["ALDABA_APP_ID"], "role": "serviceExtension"})
    while True:
        message = receive(stream)
        if message["type"] == "expire":
            note(expired=message["notification"])
        if message["type"] != "extend":
            continue
        notification = message["notification"]
        number, payload = notification["id"], json.loads(notification["payload"])
        title = payload["aps"]["alert"]["title"]
        content = {"title": f"{title}, extended", "body": "By a program."}
        if title.startswith("crash"):
            os._exit(3)
        if title.startswith("eat"):
            eaten = bytearray(os.urandom(1 << 20)) * 60
            time.sleep(60)
            print(len(eaten))
        if title.startswith("share"):
            # Memory that is shared is not the process's own, and counts for its control group alone.
            shared = mmap.mmap(-1, 200 << 20)
            for page in range(0, len(shared), mmap.PAGESIZE):
                shared[page] = 1
        if title.startswith("hang"):
            child = subprocess.Popen(["sleep", "600"])
            note(hangs=number, child=child.pid)
            continue
        if title.startswith("empty"):
            content = {}
        if title.startswith("leave"):
            connection.shutdown(socket.SHUT_RDWR)
            signal.pause()
        if title.startswith("adds"):
            own = {"identifier": "own", "content": {"title": "Of the extension's own", "body": "In its app's name."}}
            send({"type": "center", "request": 1, "command": "add", "notification": own})
            note(answer=receive(stream))
        if title.startswith("steal"):
            content["attachments"] = [{"identifier": "a", "path": "/etc/passwd", "type": "public.png"}]
        send({"type": "extended", "notification": number, "content": content})
        send({"type": "extended", "notification": number, "content": {"title": "too late"}})


if __name__ == "__main__":
    main()
