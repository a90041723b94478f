"""The command line in Spanish: help and messages by the language of the environment, and English as it was without it."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aldaba_process import clean_environment, run_aldaba

ROOT = Path(__file__).parents[2]
TEXTS = ROOT / "Sources/Core/Texts/Command"
WIDE = "100000"
#: Texts of help that are the same in both languages: names, and commands to copy.
SAME = re.compile(r"(aldaba|openssl) .*|[a-z0-9.-]+(, [a-z0-9.-]+)*\.?")


def spoken(*words, columns=WIDE, check=True, **variables):
    """What a command does in a language."""
    return run_aldaba(*words, check=check, env=clean_environment(COLUMNS=columns, **variables))


def in_spanish(*words, **options):
    return spoken(*words, LC_ALL="", LANG="es_ES.UTF-8", **options)


def texts_of_help():
    """The words of every command with the English texts of its help."""
    def walk(command, words):
        texts = [command.get("abstract", ""), *command.get("discussion", "").splitlines()]
        for argument in command.get("arguments", []):
            if argument["shouldDisplay"]:
                texts += [argument.get("abstract", ""), argument.get("discussion", "")]
                texts += [argument["sectionTitle"].upper() + ":"] if "sectionTitle" in argument else []
        yield words, [text for text in map(without_label, texts) if re.search("[A-Za-z]{2}", text)]
        for inner in command.get("subcommands", []):
            if inner["commandName"] != "help" and inner["shouldDisplay"]:
                yield from walk(inner, (*words, inner["commandName"]))

    return walk(json.loads(spoken("--experimental-dump-help", LC_ALL="C").stdout)["command"], ())


def without_label(line):
    """The text of a line of help without an example before it; empty where nothing in it needs a translation."""
    text = re.split(r" {2,}", line.strip())[-1] if line.startswith("  ") else line
    return "" if SAME.fullmatch(text) else text


def pairs(pattern):
    """The pairs of the catalogue's files, English and Spanish."""
    for file in sorted(TEXTS.glob(pattern)):
        for section in re.findall(r'CommandSection\(\s*"""\n(.*?)"""\)', file.read_text(), re.S):
            text = re.sub(r"\\\n *", "", section)
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            yield from zip(lines[::2], lines[1::2], strict=True)


def test_every_help_text_has_a_spanish_one():
    def missing(command):
        words, texts = command
        lines = in_spanish(*words, "--help").stdout.splitlines()
        return [f"aldaba {' '.join(words)}: {text}" for text in texts if any(text in line for line in lines)]

    with ThreadPoolExecutor(2) as pool:
        found = [text for texts in pool.map(missing, list(texts_of_help())) for text in texts]
    assert found == []


def test_no_spanish_text_is_of_an_english_one_that_is_gone():
    sources = [
        re.sub(r'"\s*\+ "|\\\n *', "", file.read_text()).replace('\\"', '"')
        for file in (ROOT / "Sources").rglob("*.swift") if TEXTS not in file.parents]
    gone = []
    for english, _ in [*pairs("*Help.swift"), *pairs("*Messages.swift")]:
        longest = max(re.split(r"\{\w+\}", english), key=len).strip(" ,:;()")
        if not any(stands_in(source, longest) for source in sources):
            gone.append(english)
    assert gone == []


def stands_in(source, text):
    """Whether a program has a text, in one piece or in two: a sentence and its ending."""
    if text in source:
        return True
    words = re.findall(r"\S+\s*", text)
    heads = ("".join(words[:count]) for count in range(1, len(words)))
    return any(head.strip(" ,;") in source and text[len(head):] in source for head in heads)


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_lines_are_as_wide_as_the_terminal(columns):
    for words in ((), ("send",), ("serve",), ("notify",)):
        lines = in_spanish(*words, "--help", columns=columns).stdout.splitlines()
        assert lines[0].startswith("DESCRIPCIÓN: ")
        assert any(line.startswith("USO: aldaba") for line in lines) and "OPCIONES:" in lines
        for line in lines:
            assert len(line) <= int(columns) or line.startswith("USO: ") or " " not in line.strip(), line


def test_help_of_a_command():
    lines = in_spanish("send", "--help").stdout.splitlines()
    assert lines[0] == "DESCRIPCIÓN: Envía una notificación a un dispositivo o a muchos."
    assert "  --title <title>         El título de la alerta." in lines
    assert "  -h, --help              Muestra la ayuda." in lines
    assert in_spanish("help", "send").stdout.splitlines() == lines


def test_defaults_are_named():
    told = in_spanish("serve", "--help").stdout
    assert "La API de proveedores de APNs: https, HTTP/2. (por omisión: 2197)" in told
    assert "(por omisión: false; de `up`: true) (como opción sin valor: true)" in in_spanish("up", "--help").stdout


@pytest.mark.parametrize(("words", "told"), [
    (("send", "--jsn"), "Error: Opción desconocida '--jsn'. ¿Quería decir '--json'?"),
    (("send", "--jsn"), "Uso: aldaba send "),
    (("send", "--jsn"), "  Hay más información con 'aldaba send --help'."),
    (("received", "--limit", "x"), "Error: El valor 'x' no es válido para '--limit <limit>'"),
    (("received", "--limit", "x"), "Ayuda: --limit <limit>  El número de peticiones que se muestran, de 1 a 1000."),
    (("received", "--limit"), "Error: Falta el valor de '--limit <limit>'"),
    (("received", "--timeout", "0"), "Error: --timeout admite de 1 a 60 segundos"),
    (("get",), "Error: Falta el argumento '<id>'"),
    (("nonsense",), "aldaba: no existe la orden `aldaba nonsense`"),
    (("notifications", "dismss"), "¿quería decir `aldaba notifications dismiss`?"),
    (("serve", "--apns-port", "x"), "--apns-port: apns-port es \"x\"; admite un puerto, de 0 a 65535 (0: uno libre)"),
])
def test_a_faulty_command_line(words, told):
    done = in_spanish(*words, check=False)
    assert done.returncode in (2, 3) and done.stdout == ""
    assert told in done.stderr


def test_a_server_that_is_not_there():
    done = in_spanish("clock", "--http", "http://127.0.0.1:1", check=False)
    assert done.returncode == 6
    assert done.stderr == (
        "aldaba: no se puede preguntar a 127.0.0.1:1: allí no escucha nada; ¿está el servidor en marcha?\n")


def test_findings(tmp_path):
    done = in_spanish("doctor", "--data", str(tmp_path / "data"), check=False)
    assert f"correcto carpeta de datos {tmp_path}/data, que se creará en {tmp_path}: con permiso de escritura" in done.stdout
    english = {"LC_ALL": "C"}
    json_in_both = [
        spoken("doctor", "--json", "--data", str(tmp_path / "data"), check=False, **variables).stdout
        for variables in (english, {"LC_ALL": "es_ES.UTF-8"})]
    assert "writable" in json_in_both[1] and json_in_both[0][:80] == json_in_both[1][:80]


@pytest.mark.parametrize("variables", [
    {"LC_ALL": "C", "LANG": "es_ES.UTF-8"}, {"LC_ALL": "", "LC_MESSAGES": "en_GB.UTF-8", "LANG": "es_ES.UTF-8"},
    {"LC_ALL": "", "LC_MESSAGES": "", "LANG": "fr_FR.UTF-8"}])
def test_other_languages_are_english(variables):
    assert spoken("send", "--help", **variables).stdout.startswith("OVERVIEW: Send a notification to one device or to many.\n")
    assert "Unknown option '--jsn'" in spoken("send", "--jsn", check=False, **variables).stderr


@pytest.mark.parametrize("words", [
    ("--version",), ("--experimental-dump-help",), ("--generate-completion-script", "bash"), ("configuration-page",)])
def test_what_programs_read_is_the_same(words):
    results = [spoken(*words, check=False, LC_ALL=language) for language in ("C", "es_ES.UTF-8")]
    assert results[0].stdout == results[1].stdout and results[0].returncode == results[1].returncode
