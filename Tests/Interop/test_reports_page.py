"""The page about reports: its commands run, and its code reads a report."""

import json

from pages import blocks, run_shell
from test_reports import Phone, send_labelled


def test_the_page(path, send, tmp_path):
    phone = Phone(path)
    send_labelled(send, phone, "spring-sale", 2)
    phone.receive(2, "presented")
    send_labelled(send, phone, "spring-sale", 2)
    phone.receive(2, "presented", "opened")
    done = run_shell("reports.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "label spring-sale" in done.stdout
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert sum(event["state"] == "opened" for event in events) == 2
    assert (tmp_path / "events.csv").read_text().startswith("id,apnsId,app,")
    names = {}
    [code] = blocks("reports.md", "python")
    exec(compile(code, "reports.md", "exec"), names)
    assert names["opened_share"](path["http"], "spring-sale") == 0.5
    assert names["opened_share"](path["http"], "none") == 0
