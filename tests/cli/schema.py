"""schema.py SCHEMA GOLDEN_FOLDER FIELDS_SOURCE HAGI: everything that hagi prints as JSON is what the JSON Schema says.

Every document of the golden files, and those of the real program that need a real store, is valid for the shape of its
command and has no field that the schema does not name. The other way round: every field of the schema is seen in some
document, and --print knows exactly the fields of an answer that hold one value.
"""
import copy
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not here")
    sys.exit(77)

schema_file, golden_folder, fields_source, hagi = sys.argv[1:]
schema = json.loads(pathlib.Path(schema_file).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
problems = []
seen = set()


def resolved(part):
    """The schemas that describe one value: references and allOf followed; of several kinds (anyOf), all."""
    found, rest = [], [part]
    while rest:
        next_part = rest.pop()
        found.append(next_part)
        if "$ref" in next_part:
            rest.append(schema["$defs"][next_part["$ref"].removeprefix("#/$defs/")])
        rest += next_part.get("allOf", []) + next_part.get("anyOf", [])
    return found


def properties(part):
    return {name: (id(each), inner) for each in resolved(part) for name, inner in each.get("properties", {}).items()}


def unknown_fields(part, value, path=""):
    """Fields that the schema does not name; marks the others as seen."""
    if isinstance(value, dict):
        known = properties(part)
        for name, inner in value.items():
            if name not in known:
                yield f"{path}.{name}"
                continue
            seen.update((id(each), name) for each in resolved(part) if name in each.get("properties", {}))
            yield from unknown_fields(known[name][1], inner, f"{path}.{name}")
    if isinstance(value, list):
        for each in resolved(part):
            if "items" in each:
                for inner in value:
                    yield from unknown_fields(each["items"], inner, f"{path}[]")


def breaches(shapes, document):
    """Why the document is none of the shapes; empty: it is."""
    for shape in shapes:
        part = {"$ref": f"#/$defs/{shape}", "$defs": schema["$defs"]}
        errors = [error.message for error in jsonschema.Draft202012Validator(part).iter_errors(document)]
        errors = errors or [f"unknown field {path}" for path in unknown_fields(part, document)]
        if not errors:
            return []
    return [f"no {' or '.join(shapes)}: {'; '.join(errors)[:300]}"]


def check(shapes, text, where, exit_code=None):
    document = json.loads(text)
    for breach in breaches(shapes, document):
        problems.append(f"{where}: {breach}: {text[:400]}")
    if "error" in document and exit_code is not None and document["error"]["exitCode"] != exit_code:
        problems.append(f"{where}: exitCode is not the exit code {exit_code}: {text[:200]}")
    return document


def shapes_of(words):
    verb = words[2] if len(words) > 2 and not words[2].startswith("-") else None
    if verb == "list":
        return ["locksEvent", "watchEvent"] if "--watch" in words else ["list"]
    if verb == "guide":
        return ["guide"]
    if verb == "log":
        return ["logEvent"] if "--follow" in words else ["log"]
    if verb in ("heartbeat", "run") or (verb == "acquire" and "--wait" in words):
        return ["watchEvent"]
    return ["answer"]


def check_golden(file):
    """How many documents it has."""
    count, words, lines = 0, None, []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.startswith("$ "):
            words, lines = shlex.split(line[2:].replace("$'", "'"))[1:], []
        elif words and line.startswith("exit "):
            for at, text in lines:
                check(shapes_of(words) + ["failure"], text, f"{file.name}:{at}", int(line.removeprefix("exit ")))
            count, words = count + len(lines), None
        elif words and ("--json" in words or "json" in words) and not line.startswith("! "):
            lines.append((number, re.sub(r"^\+[0-9.]+s ", "", line)))
    return count


def run(folder, words, more=()):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HAGI_")}
    environment["HAGI_LOCK_STORE"] = f"{folder}/locks.db"
    words = [hagi, "agent", "lock", *words]
    return subprocess.run([*more, *words], env=environment, capture_output=True, text=True, check=False)


def under_a_heartbeat(folder):
    """A command that runs the words behind it while a heartbeat keeps the lock a of x, and ends that."""
    script = """hagi=$1; mkfifo "$2"; shift 2
        "$hagi" agent lock heartbeat --lock-id a --owner x >"$0" & read -r line <"$0"; "$@"; kill $!"""
    return ["sh", "-c", script, f"{folder}/lines", hagi, f"{folder}/lines"]


def check_the_real_program():
    with tempfile.TemporaryDirectory() as folder:
        def doctor(shape, *words):
            ran = run(folder, ["doctor", *words, "--json"])
            return check([shape], ran.stdout, f"doctor {' '.join(words)}", ran.returncode)

        doctor("examination")
        check(["guide"], run(folder, ["guide", "--json"]).stdout, "guide")
        ran = run(folder, ["acquire", "--lock-id", "a", "--owner", "x", "--json"])
        if not check(["answer"], ran.stdout, "acquire").get("storeCreated"):
            problems.append("the first acquire does not say that it created the store")
        watched = run(folder, ["status", "--lock-id", "a", "--owner", "x", "--json"], under_a_heartbeat(folder))
        check(["answer"], watched.stdout, "status")
        ran = run(folder, ["run", "--lock-id", "b", "--owner", "x", "--json", "--", "no-such-command"])
        for line in ran.stderr.splitlines():
            check(["watchEvent"], line, "run")
        with open(f"{folder}/locks.db", "r+b") as store:
            store.seek(5000)
            store.write(b"\x99" * 20000)
        doctor("examination")
        doctor("rebuilding", "--rebuild")
    with tempfile.TemporaryDirectory() as folder:
        run(folder, ["requisition", "--lock-id", "a", "--owner", "x", "--reason", "order"])
        doctor("pruning", "--prune-idle", "1")
        doctor("conversion", "--convert-to-shared")
        doctor("failure", "--rebuild-to", f"{folder}/locks.db")


def fields_of(part, path=""):
    """The fields below it that hold one value."""
    fields = set()
    for name, (_, inner) in properties(part).items():
        parts = resolved(inner)
        if any("items" in each for each in parts):
            continue
        deeper = fields_of(inner, f"{path}{name}.") if properties(inner) else {path + name}
        fields |= deeper
    return fields


def check_print():
    source = pathlib.Path(fields_source).read_text()
    known = set(re.findall(r'^    "([A-Za-z.]+)",$', source, re.MULTILINE))
    wanted = fields_of({"$ref": "#/$defs/answer"})
    for field in sorted(known ^ wanted):
        problems.append(f"--print and the schema do not agree on {field}")


def check_that_all_was_seen():
    for name, part in schema["$defs"].items():
        for field in part.get("properties", {}):
            if (id(part), field) not in seen:
                problems.append(f"no document shows {name}.{field}")


def check_that_it_bites():
    """A document that is wrong in one way or another must be told."""
    right = {"lockId": "a", "owner": "x", "status": "None", "windows": {}}
    wrong = [({**right, "colour": "red"}), ({**right, "status": "Lost"}), ({**right, "status": "Holding"}),
             ({**right, "windows": {"validUntil": "soon"}}), ({**right, "windows": {"turns": 1}}),
             ({name: value for name, value in right.items() if name != "owner"}), ({**right, "epoch": "7"})]
    if breaches(["answer"], right):
        problems.append("a right document is taken for a wrong one")
    for document in wrong:
        if not breaches(["answer"], copy.deepcopy(document)):
            problems.append(f"not seen: {document}")


check_that_it_bites()
documents = sum(check_golden(file) for file in sorted(pathlib.Path(golden_folder).glob("*.txt")))
check_the_real_program()
check_that_all_was_seen()
check_print()
for problem in problems:
    print(problem)
print(f"{documents} documents of golden files checked, {len(problems)} problems")
sys.exit(1 if problems or documents < 100 else 0)
