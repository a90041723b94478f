"""What Docs/ios-edits.md says of lines that do not compile: each is given to the compiler, against the built modules."""

import json
import re
import subprocess

import pytest

from aldaba_process import BINARY, REPOSITORY

# The line, and a part of what the compiler says of it; `None` where it compiles.
LINES = [
    ("let options: UNAuthorizationOptions = .none", "use [] to construct an empty option set"),
    ("let presented: UNNotificationPresentationOptions = .none", "use [] to construct an empty option set"),
    ("let actions: UNNotificationActionOptions = .none", "use [] to construct an empty option set"),
    ("let category: UNNotificationCategoryOptions = .none", "use [] to construct an empty option set"),
    ("let empty: UNNotificationActionOptions = []", None),
    ('let task = URLSession.shared.dataTask(with: URL(string: "https://localhost")!)', None),
    ('let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.a")', None),
    ("let place = CLLocationCoordinate2DMake(52.5, 13.4)", None),
    ("let row = IndexPath(row: 1, section: 0).row", None),
    ("let type = NSUserActivityTypeBrowsingWeb", None),
    ("class A: UIResponder { override init() { super.init() } }", "'required'"),
    ("class B: UIViewController { init(a: Int) { super.init(nibName: nil, bundle: nil) }; "
     "required init?(coder: NSCoder) { nil } }", "'required' initializer 'init()' must be provided"),
    ("class C: UIViewController { init(a: Int) { super.init(nibName: nil, bundle: nil) }; "
     "required init?(coder: NSCoder) { nil }; required convenience init() { fatalError() } }", None),
    ("class D: UIView { override init(frame: CGRect) { super.init(frame: frame) }; "
     "required init?(coder: NSCoder) { super.init(coder: coder) } }", None),
    ('let item = UIBarButtonItem(title: "Done", style: .done, target: nil, action: nil)', None),
    ('let old = UIBarButtonItem(title: "Done", style: .done, target: nil, action: #selector(done))',
     "#selector"),
    ("let stack = UINavigationController(rootViewController: UIViewController())", None),
    ('let hidden = UIStackView(arrangedSubviews: [UITextField(), UITextView()]).isHidden', None),
    ('let title = (["aps": ["alert": "a"]] as NSDictionary).value(forKeyPath: "aps.alert")', None),
    ("let clipping = CGRect(x: 0, y: 0, width: 1, height: 1).dictionaryRepresentation", None),
    ('let beacon = CLBeaconRegion(uuid: UUID(), identifier: "b")', None),
    ("class E: NSObject { @objc func f() {} }", "Objective-C interoperability is disabled"),
    ("class F: UITableViewController {}", "cannot find type 'UITableViewController' in scope"),
    ('let board = UIStoryboard(name: "Main", bundle: nil)', "cannot find 'UIStoryboard' in scope"),
]
IMPORTS = ["os", "os.log", "CommonCrypto"]


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """`compiler(text)` gives what the compiler says, by the numbers of the lines."""
    triple = json.loads(subprocess.run(
        ["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout)["target"]["triple"]
    folder = tmp_path_factory.mktemp("edits")

    def compile(text):
        file = folder / "main.swift"
        file.write_text(text)
        done = subprocess.run(
            ["swiftc", "-typecheck", "-swift-version", "5", "-target", triple, "-I", str(BINARY.parent / "Modules"), "-I",
             str(REPOSITORY / "Sources/System/CLinux"), "-I", str(REPOSITORY / "Sources/System/CPNG"), "-I",
             str(REPOSITORY / "Sources/System/CJPEG"), str(file)], capture_output=True, text=True, timeout=170)
        said = {}
        for line, words in re.findall(r"main\.swift:(\d+):\d+: error: (.*)", done.stderr):
            said.setdefault(int(line), []).append(words)
        return said

    return compile


def test_lines_compile_or_are_refused_as_the_page_says(compiler):
    head = "import CoreLocation; import UIKit; import UserNotifications\n"
    # What is missing in a class is said behind its last brace, on the line after it, which is empty here.
    said = compiler(head + "\n\n".join(line for line, _ in LINES) + "\n")
    for number, (line, expected) in enumerate(LINES, start=1):
        heard = " ".join(said.get(2 * number, []) + said.get(2 * number + 1, []))
        assert (expected is None and not heard) or (expected and expected in heard), f"{line}\n{heard}"


@pytest.mark.parametrize("module", IMPORTS)
def test_modules_of_apple_s_toolchain_are_not_there(compiler, module):
    assert "no such module" in " ".join(compiler(f"import {module}\n").get(1, []))


def test_the_log_and_background_work_are_modules_of_apple_s_names(compiler):
    log = 'import OSLog\nlet log = Logger(subsystem: "a", category: "b")\nlog.info("\\(log, privacy: .public)")\n'
    assert not compiler(log + 'os_log("%{public}@", log: .default, type: .error, "a")\n')
    assert not compiler("import BackgroundTasks\ntry? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: \"a\"))\n")
    assert not compiler("import FlutterMacOS\nclass P: NSObject, FlutterPlugin { static func register(with r: FlutterPluginRegistrar) {"
                        ' _ = FlutterMethodChannel(name: "a", binaryMessenger: r.messenger) } }\n')


def test_the_command_of_the_page_takes_objective_c_s_attributes_out(tmp_path):
    page = (REPOSITORY / "Docs/ios-edits.md").read_text()
    command = re.search(r"^(find Sources .*)$", page, re.M).group(1)
    file = tmp_path / "Sources/App/A.swift"
    file.parent.mkdir(parents=True)
    file.write_text("@objc(App) @objcMembers class A {\n    @IBOutlet weak var a: B!\n    @objc  func f() {}\n    @objection var c = 1\n}\n")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, timeout=60)
    assert file.read_text() == "class A {\n    weak var a: B!\n    func f() {}\n    @objection var c = 1\n}\n"


def test_the_network_is_a_module_of_its_own(compiler):
    line = 'let task = URLSession.shared.dataTask(with: URL(string: "https://localhost")!)\n'
    assert "has no member 'shared'" in " ".join(compiler(f"import Foundation\n{line}").get(2, []))
    assert not compiler(f"import Foundation\nimport FoundationNetworking\n{line}")


def test_what_the_page_names_it_names():
    page = (REPOSITORY / "Docs/ios-edits.md").read_text()
    for name in ("Objective-C sources", "FoundationNetworking", "required convenience init()", "UIStoryboard", "containerURL",
                 "CommonCrypto", "suggestedFilename", "import os"):
        assert name in page, name
