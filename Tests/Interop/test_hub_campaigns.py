"""Campaigns by the recipients' own time, tried and imported: Python's zoneinfo is the oracle."""

import json
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from aldaba_process import run_aldaba
from hub_clients import OwnHub
from pictures import png
from test_hub import handed, shown


@pytest.fixture
def own(path, control, request):
    """A hub of the test's own."""
    name = request.node.originalname.replace("_", "-")[:60]
    run_aldaba("hub", "create", name, "--data", path["data"], check=False)
    return OwnHub(path | {"hubName": name}, control)


def put(own, name, channel, **more):
    status, told = own.ask("PUT", f"/installations/{name}", {"platform": "aldaba", "pushChannel": channel} | more)
    assert status in (200, 201), told


def expected(local, zone, gap, overlap):
    """When it is that local time, by zoneinfo; None where it is skipped and to be left out."""
    zone = ZoneInfo(zone)
    found = [local.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1)]
    if all(each.astimezone(zone).replace(tzinfo=None, fold=0) == local for each in found):
        return found[0] if overlap == "first" else found[1]
    # The offset before the gap takes the local time as far behind it as it is in it.
    shifted = found[0]
    if gap == "shift":
        return shifted
    if gap == "skip":
        return None
    end = shifted
    while (end - timedelta(minutes=1)).astimezone(zone).utcoffset() == shifted.astimezone(zone).utcoffset():
        end -= timedelta(minutes=1)
    return end


YEAR = datetime.now().year + 2
# Of each zone the local times round its changes of clocks, and an ordinary one.
CASES = [
    (zone, day + timedelta(hours=hours))
    for zone in ("Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Kiritimati")
    for day in [
        at for at in (datetime(YEAR, 1, 1) + timedelta(days=number) for number in range(365))
        if at.replace(tzinfo=ZoneInfo(zone)).utcoffset() != (at + timedelta(days=1)).replace(tzinfo=ZoneInfo(zone)).utcoffset()
    ] + [datetime(YEAR, 6, 1)]
    for hours in (0, 1, 1.75, 2, 2.25, 2.5, 3, 9)
]


def test_local_times_are_those_of_zoneinfo(own):
    for zone in {zone for zone, _ in CASES}:
        put(own, zone.replace("/", "."), zone, timeZone=zone)
    tried = 0
    for zone, local in CASES:
        for gap in ("end", "shift", "skip"):
            for overlap in ("first", "second"):
                told = own.ask("POST", "/campaigns/preview", {
                    "installationId": zone.replace("/", "."), "content": {"title": "x"},
                    "local": {"time": local.isoformat(), "past": "skip", "gap": gap, "overlap": overlap,
                              "unknownZone": "skip"}})[1]
                at = expected(local, zone, gap, overlap)
                if at is None:
                    assert told["leftOut"] == "gap", (zone, local)
                else:
                    assert datetime.fromisoformat(told["comesAt"]) == at, (zone, local, gap, overlap, told)
                tried += 1
    assert tried > 300


def test_choices_are_spelled_out_and_told(own, path):
    put(own, "demo", path["deviceToken"], timeZone="Pacific/Kiritimati")
    put(own, "nowhere", "x")
    local = {"time": "2020-01-01T09:00:00", "past": "now", "gap": "end", "overlap": "first", "unknownZone": "skip"}
    for name in local:
        status, problem = own.ask("POST", "/campaigns", {
            "content": {"title": "x"}, "local": {other: value for other, value in local.items() if other != name}})
        assert (status, problem["pointer"]) == (400, f"/local/{name}")
    before = handed(path)
    begun = own.ask("POST", "/campaigns", {"content": {"title": "x"}, "local": local})[1]
    assert begun["local"] == local
    told = own.wait_for_campaign(begun["id"], "Completed")
    assert (told["leftOut"], told["targeted"]) == ({"unknownZone": 1}, 2)
    shown(path, before + 1)
    now = datetime.now(ZoneInfo("Pacific/Kiritimati"))
    quiet = {
        "from": (now - timedelta(hours=2)).strftime("%H:%M"), "to": (now + timedelta(hours=2)).strftime("%H:%M"),
        "then": "wait", "unknownZone": "skip"}
    preview = own.ask("POST", "/campaigns/preview", {
        "installationId": "demo", "content": {"title": "x"}, "quiet": quiet})[1]
    end = (now + timedelta(hours=2)).replace(second=0, microsecond=0)
    assert datetime.fromisoformat(preview["quietUntil"]) == end
    begun = own.ask("POST", "/campaigns", {"content": {"title": "x"}, "quiet": quiet | {"then": "skip"}})[1]
    told = own.wait_for_campaign(begun["id"], "Completed")
    assert told["leftOut"] == {"quiet": 1, "unknownZone": 1}
    assert handed(path) == before + 1


def test_an_experiment_and_its_test_devices(own, path):
    put(own, "demo", path["deviceToken"], tags=["test-device"], userId="anna")
    campaign = {"experiment": {"holdOut": 0, "variants": [
        {"name": name, "share": 50, "content": {"title": name}} for name in ("a", "b")]}}
    before = handed(path)
    trials = own.ask("POST", "/campaigns/test", campaign)[1]["trials"]
    assert [(each["variant"], each["results"]) for each in trials] == [
        (name, [{"installationId": "demo", "outcome": "Success"}]) for name in ("a", "b")]
    shown(path, before + 2)
    begun = own.ask("POST", "/campaigns", campaign)[1]
    told = own.wait_for_campaign(begun["id"], "Completed")
    assert sorted(told["variants"].values()) == [0, 1]
    shown(path, before + 3)


def campaign(path, own, *words, **options):
    """`aldaba hub campaign` on the test's own hub."""
    verb, *rest = words
    return run_aldaba("hub", "campaign", verb, own.ask("GET")[1]["name"], *rest, "--data", path["data"], **options)


def test_a_campaign_by_the_command(own, path, tmp_path):
    put(own, "demo", path["deviceToken"], tags=["test-device"], locale="es")
    (tmp_path / "bread.png").write_bytes(png(8, 8))
    document = tmp_path / "campaign.json"
    document.write_text(json.dumps({"name": "spring", "ttl": 60, "content": {
        "title": "Hello", "locales": {"es": {"title": "Hola"}}}}))
    pictured = ("--document", document, "--image", tmp_path / "bread.png")
    before = handed(path)
    told = campaign(path, own, "preview", "--installation", "demo", *pictured).stdout.splitlines()
    payload = json.loads(told[0])
    assert payload["aps"]["alert"]["title"] == "Hola" and payload["attachment-url"].endswith(".png")
    assert told[1].endswith(" of 4096 bytes") and told[2].startswith("comes at ")
    assert campaign(path, own, "test", *pictured).stdout == "demo  Success\n"
    shown(path, before + 1)
    begun = [json.loads(campaign(path, own, "create", *pictured, "--idempotency-key", "k", "--json").stdout)["id"]
             for _ in range(2)]
    assert begun[0] == begun[1]
    own.wait_for_campaign(begun[0], "Completed")
    shown(path, before + 2)
    told = campaign(path, own, "show", begun[0]).stdout
    assert f"{begun[0]}  Completed  spring\naudience everybody\n" in told and "targeted 1 " in told
    assert campaign(path, own, "withdraw", begun[0]).stdout == "withdrawn 1\n"


def test_the_app_chooses_where_its_extension_finds_pictures(own, path):
    put(own, "phone", "00ff", platform="apns")
    hub = own.ask("GET")[1]["name"]

    def members(**more):
        content = {"title": "x", "image": "https://shop.example/bread.png"} | more
        found = [
            own.ask("POST", "/campaigns/preview", campaign | {"installationId": "phone"})[1]["renderings"][0]["payload"]
            for campaign in ({"content": content}, {"experiment": {"variants": [
                {"name": "a", "share": 100, "content": content}]}})]
        assert found[0] == found[1]
        return found[0], sorted(set(found[0]) - {"aps"})

    found, names = members()
    assert names == ["ab", "att", "attachment-url", "fcm_options"]
    assert found["ab"]["att"] == {"url": "https://shop.example/bread.png", "type": "png"}
    assert run_aldaba("hub", "pictures", hub, "--data", path["data"]).stdout == "all that fit\n"
    run_aldaba("hub", "pictures", hub, "--keys", "ab.att,att", "--data", path["data"])
    assert members()[1] == ["ab", "att"]
    assert members(pictureKeys=["fcm_options.image"])[1] == ["fcm_options"]
    done = run_aldaba("hub", "pictures", hub, "--keys", "ab", "--data", path["data"], check=False)
    assert done.returncode == 3 and "fcm_options.image" in done.stderr
    run_aldaba("hub", "pictures", hub, "--keys", "all", "--data", path["data"])
    assert len(members()[1]) == 4


def test_a_scheduled_campaign_is_controlled_by_the_command(own, path):
    id = campaign(path, own, "create", "--title", "x", "--at", "2090-01-01T00:00:00Z").stdout.split()[1]
    for verb, state in (("pause", "Paused"), ("resume", "Scheduled"), ("cancel", "Canceled")):
        assert campaign(path, own, verb, id).stdout == f"campaign {id}  {state}\n"
    # By another machine: over TLS, with the team's key.
    rows = campaign(path, own, "list", "--server", path["control"], "--state", "Canceled", "--json").stdout
    assert [json.loads(row)["id"] for row in rows.splitlines()] == [id]
    assert json.loads(campaign(path, own, "show", id, "--json").stdout)["report"]["state"] == "Canceled"


@pytest.mark.parametrize(("words", "code", "told"), [
    (("create",), 3, "/content: the content is missing"),
    (("create", "--title", "x", "--image", "http://shop.example/a.png"), 3, "/content/image: this is an address"),
    (("create", "--title", "x", "--image", "/nowhere.png"), 3, "/nowhere.png cannot be read"),
    (("create", "--document", "/nowhere.json"), 3, "--document: there is no file /nowhere.json"),
    (("create", "--title", "x", "--audience", "a b"), 3, 'character 3: "b" cannot stand here'),
    (("show", "../x"), 1, "not found: the send ../x does not exist"),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_a_wrong_campaign_is_refused_with_the_place(own, path, words, code, told):
    done = campaign(path, own, *words, check=False)
    assert (done.returncode, done.stdout) == (code, "") and told in done.stderr, done.stderr


def test_a_file_is_imported_while_the_server_runs(own, path, tmp_path):
    put(own, "i7", "old", tags=["old"])
    assert own.ask("POST", "/audience", {"expression": "old"})[1]["count"] == 1
    file = tmp_path / "installations.jsonl"
    good = [json.dumps({"installationId": f"i{number}", "platform": "apns", "pushChannel": f"c{number}",
                        "tags": ["all", f"t{number % 7}"], "timeZone": "Europe/Vienna"}) for number in range(12_000)]
    file.write_text("\n".join(good[:5] + ["", '{"installationId":"x"}', "no"] + good[5:]))
    hub = own.ask("GET")[1]["name"]
    done = run_aldaba("hub", "import", hub, file, "--json", "--data", path["data"], check=False)
    assert done.returncode != 0
    assert "line 7: /platform: the platform is missing" in done.stderr
    assert "line 8: this is no JSON" in done.stderr
    told = json.loads(done.stdout.splitlines()[0])
    assert (told["put"], told["added"], told["wrong"]) == (12_000, 11_999, 2)
    assert own.ask("POST", "/audience", {"expression": "all"})[1]["count"] == 12_000
    assert own.ask("POST", "/audience", {"expression": "old"})[1]["count"] == 0
    few = own.ask("POST", "/audience", {"expression": "t3 && !t4"})[1]["count"]
    assert few == sum(number % 7 == 3 for number in range(12_000))
    missing = run_aldaba("hub", "import", hub, tmp_path / "none", "--data", path["data"], check=False)
    assert "is it there?" in missing.stderr
