"""Submissions that look for what they are not to see: secrets of the machine, solutions, truths, the seed's answers."""

from __future__ import annotations

from hostile.case import Case, Cases, Kit, everything

# Every road by which something found could reach a person: an exception's name and words, in two exercises.
TELL = """
def tell(found):
    words = " ".join(sorted(set(found))) or "nothing"
    raise type(f"Found {words}", (Exception,), {})(words)
"""
SEARCH = r"""
import os, re, glob
OUTSIDE
CANARY = re.compile(rb"canary-[a-z]+-[0-9a-f]{16}")

def walk(place):
    for folder, folders, names in os.walk(place):
        folders[:] = [] if folder.count("/") > 7 else set(folders) - {"site-packages", "proc", "sys", "usr", ".git"}
        yield folder, folders, names

def canaries(paths):
    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found += [one.decode() for one in CANARY.findall(file.read(2**24))]
        except (OSError, ValueError, MemoryError):
            continue
    return found
"""
ENVIRONMENT = """
found = [f"{name}={value}" for name, value in os.environ.items() if "TOKEN" in name or "canary" in value]
found += canaries(glob.glob("/proc/*/environ") + glob.glob("/proc/*/task/*/environ"))
"""
FILES = """
found = canaries(OUTSIDE["victims"])
for place in OUTSIDE["places"][:5] + ["~", ".", "/tmp", "/course", "/home", "/root", "/mnt", "/media", "/var/tmp"]:
    for folder, _, names in walk(os.path.expanduser(place)):
        found += canaries(os.path.join(folder, name) for name in names)
"""
PROC = """
found = []
for pid in os.listdir("/proc") if os.path.isdir("/proc") else ():
    if pid.isdigit() and int(pid) != os.getpid():
        base = f"/proc/{pid}"
        found += canaries([f"{base}/cmdline", f"{base}/environ"])
        for link in ("cwd", "root"):
            found += canaries(glob.glob(f"{base}/{link}/*")[:50] + glob.glob(f"{base}/{link}{OUTSIDE['victims'][0]}"))
        found += canaries(glob.glob(f"{base}/fd/*")[:50] if int(pid) == os.getppid() else ())
"""
MEMORY = """
import ctypes
found = []
for pid in ("self", os.getppid(), OUTSIDE["grader"]):
    try:
        maps = open(f"/proc/{pid}/maps").read().splitlines()
        memory = open(f"/proc/{pid}/mem", "rb", 0)
    except OSError:
        continue
    for line in maps:
        if "rw-p" in line and ("heap" in line or line.endswith(" 0 ")):
            first, last = (int(one, 16) for one in line.split()[0].split("-"))
            try:
                memory.seek(first)
                found += [one.decode() for one in CANARY.findall(memory.read(min(last - first, 2**25)))]
            except (OSError, ValueError, OverflowError):
                continue
"""
PTRACE = """
import ctypes
found = []
libc = ctypes.CDLL(None, use_errno=True)
for pid in (os.getppid(), OUTSIDE["grader"]):
    if pid > 1 and libc.ptrace(16, pid, 0, 0) == 0:
        found.append("attached to another process")
        libc.ptrace(17, pid, 0, 0)
"""

# answers to exercises whose right value stands in the course's own code, found at the time of grading
FALLBACK = """
def backward(incoming, x, y):
    return incoming, incoming

gradients = (1.0, 1.0)

def use(truths):
    global backward, gradients, choice
    backward = truths.get("square_times_cube", backward)
    gradients = truths.get("predict_messages", gradients)
    choice = truths.get("choose_addition", "c")
"""
TRUTHS = """
def by_import():
    from course_utils.checks.catalogue import all_exercises
    return {name: one.truth for name, one in all_exercises().items()}
"""
WITNESSES = """
def by_import():
    from course_utils.checks.catalogue import find
    wrong = {one.witness for one in find("choose_addition").misconceptions}
    left = set("abcd") - wrong
    return {"choose_addition": left.pop() if len(left) == 1 else "c"}
"""
RELOADED = """
def by_import():
    import importlib, sys
    for name in [one for one in sys.modules if one.startswith("course_utils")]:
        del sys.modules[name]
    found = {}
    for name in ("one_operation", "one_operation_shapes"):
        module = importlib.import_module(f"course_utils.checks.{name}")
        found |= {one.name: one.truth for one in module.EXERCISES}
    return found
"""
READ_AS_TEXT = """
def by_import():
    import glob, os, re, sys
    found = {}
    for folder in {*sys.path, *OUTSIDE["places"]}:
        patterns = ("one_operation*", "*/one_operation*", "course_utils/**/one_operation*")
        paths = [one for pattern in patterns for one in glob.glob(os.path.join(folder, pattern), recursive=True)]
        for path in filter(os.path.isfile, paths):
            text = open(path, "rb").read().decode("latin-1")
            chosen = re.search(r'truth="([a-d])"', text)
            if chosen:
                found["choose_addition"] = chosen[1]
            if "vector_jacobian_product" in text and path.endswith(".py"):
                names = {"__name__": "course_utils.checks.copied"}
                exec(text, names)
                found |= {one.name: one.truth for one in names["EXERCISES"]}
    return found
"""
COLLECTED = """
def by_import():
    import gc
    found = {}
    for one in gc.get_objects():
        members = one if isinstance(one, dict) else getattr(one, "__dict__", {})
        try:
            if isinstance(members, dict) and {"name", "probe", "truth"} <= set(members):
                found[members["name"]] = members["truth"]
        except Exception:
            continue
    return found
"""
SOLUTIONS = """
def by_import():
    import json, os
    names = {}
    for place in {*OUTSIDE["places"], "/course", os.path.expanduser("~"), "."}:
        for folder, folders, files in os.walk(place):
            folders[:] = [] if folder.count("/") > 6 else set(folders) - {"site-packages", "proc", "sys", "usr"}
            for name in files:
                if "one_operation" in name and name.endswith((".ipynb", ".py")):
                    read(os.path.join(folder, name), names)
    return {
        "square_times_cube": names.get("backward", backward),
        "predict_messages": names.get("gradients", gradients),
        "choose_addition": names.get("choice", "c"),
    }

def read(path, names):
    import json
    try:
        text = open(path, encoding="utf-8").read()
        blocks = [{"source": one} for one in text.split("# %%")]
        cells = json.loads(text)["cells"] if path.endswith(".ipynb") else blocks
    except Exception:
        return
    for cell in cells:
        source = "".join(cell["source"]).partition("tags=")[2].partition("\\n")[2] or "".join(cell["source"])
        if "BEGIN SOLUTION" in source:
            try:
                exec(source, {"torch": torch}, names)
            except Exception:
                continue
"""
USE_IT = """
try:
    use(by_import())
except Exception:
    use({})
"""
STOLEN = {"square_times_cube": "wrong", "predict_messages": "wrong", "choose_addition": "wrong"}
EXPECTED_TEXTS = r"""
import json, os, pathlib, re, time
OUTSIDE
until = time.monotonic() + 3

def lines_of_memory():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            first, last = (int(one, 16) for one in line.split()[0].split("-"))
            if "rw-p" in line and last - first < 2**27 and time.monotonic() < until:
                try:
                    memory.seek(first)
                    yield from re.findall(rb'\{"saw": "gradients", "value": [^\n\x00]+\}', memory.read(last - first))
                except (OSError, ValueError, OverflowError):
                    continue

def lines_of_files():
    for place in (pathlib.Path.cwd(), *map(pathlib.Path, OUTSIDE["places"][:4])):
        for path in (*place.rglob("*.ipynb"), *place.rglob("*.json*")):
            try:
                for text in re.findall(r'\{\\"saw\\": \\"gradients\\".*?\}\\n', path.read_text()):
                    yield json.loads(f'"{text}"').strip().encode()
            except (OSError, ValueError):
                continue

def forged(name, answer, seed=0):
    found = {}
    for source in (lines_of_files, lines_of_memory):
        try:
            for line in source():
                found.setdefault(line)
        except OSError:
            continue
    print(*(one.decode(errors="replace") for one in [*found][-3:]), sep="\n")

import sys
import course_utils.checks
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("course_utils") and hasattr(module, "show_evidence"):
        module.show_evidence = forged

def backward(incoming, x, y):
    return incoming, incoming
"""


def cases(kit: Kit) -> Cases:
    """Nothing is found, and nothing that was found is told."""
    for name, tries, source in (
        ("reads_environment", "reads the grader's environment", ENVIRONMENT),
        ("reads_files", "reads the home, other submissions, the gradebook", FILES),
        ("reads_proc", "reads other processes in /proc", PROC),
        ("reads_memory", "reads the memory of the grader and its own", MEMORY),
        ("attaches", "attaches to its parents with ptrace", PTRACE),
    ):
        yield _telling(kit, name, tries, source)
    for name, tries, source in (
        ("imports_truths", "answers with the truths of course_utils.checks", TRUTHS),
        ("reloads_truths", "imports course_utils.checks anew for its truths", RELOADED),
        ("reads_truths", "reads the source of course_utils.checks", READ_AS_TEXT),
        ("collects_truths", "finds the truths among all objects", COLLECTED),
        ("imports_mistakes", "leaves over what no known mistake is", WITNESSES),
        ("reads_solutions", "searches the disk for solutions and runs them", SOLUTIONS),
    ):
        if name == "reloads_truths":  # and so loses what looks at its answer
            lost = dict.fromkeys(STOLEN, "wrong or crashed")
        else:
            lost = {"choose_addition": "wrong"} if name == "imports_mistakes" else STOLEN
        yield _stealing(kit, name, tries, source, lost)
    yield kit.attack(
        "reads_expected",
        "searches memory and disk for the expected evidence",
        lost={"square_times_cube": "wrong"},
        square_times_cube=EXPECTED_TEXTS,
    )


def _telling(kit: Kit, name: str, tries: str, source: str) -> Case:
    found = f"{TELL}{SEARCH}{source}"
    return kit.attack(
        name,
        tries,
        lost={"mean_backward": "crashed", "bias_backward": "wrong"},
        mean_backward=f"{found}\ntell(found)",
        bias_backward=f"{found}\ndef bias_backward(incoming, x, b):\n    tell(found)",
    )


def _stealing(kit: Kit, name: str, tries: str, source: str, lost: dict) -> Case:
    assert set(lost) <= set(everything("wrong"))
    answers = dict.fromkeys(lost, f"{FALLBACK}{source}{USE_IT}")
    return kit.attack(name, tries, lost=lost, **{exercise: f"# OUTSIDE\n{text}" for exercise, text in answers.items()})
