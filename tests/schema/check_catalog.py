#!/usr/bin/env python3
"""check_catalog.py HANGSCOPE: messages and topics are complete in every language and fit the code.

Messages: the same keys in each language, the same {arguments}, no key twice; keys that the sources
name exist, and none is there for nobody. Topics: the same rows in each language, one namespace, all
codes and causes of the contract, a page for every finding and diagnostic that the sources emit.
The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import ast
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LITERALS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
SEVERITIES = ("note", "warning", "error")
# Where codes of findings and diagnostics are written down: the code is the first text that follows.
EMITTERS = (
    r"hs_text_odd\(t, ",
    r"hs_parse_diagnose\([^;\"]*?",
    r"hs_builder_fail\([^;\"]*?",
    r"hs_fault_set\([^;\"]*?",
    r"note_unread\([^;\"]*?",
    r"\bskip\(f, ",
    r"\badd\(f, 0, ",
    r"\badd_finding\(v, ",
    r"hs_add_finding\(v, ",
    r"tell_seats\(j, v, ",
    r"hs_diagnostic row = \{ \.code = ",
)
INTERNAL = {"stopped"}  # a reader's own word: it was told to stop


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def text_of(literals):
    """C's adjacent string literals as one text."""
    return "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', literals))


def rows(language, kind, fields):
    source = re.sub(r"/\*.*?\*/", "", read("schema", f"{kind}_{language}.def"), flags=re.S)
    for match in re.finditer(r"([A-Z]+)\(" + ",\\s*".join([LITERALS] * fields) + r"\)", source):
        yield match[1], [text_of(part) for part in match.groups()[1:]]


def messages(language):
    return [row for _, row in rows(language, "messages", 2)]


def topics(language):
    """-> [(macro, code, severity or "", title, means, remedy)] in order."""
    found = {}
    for macro, (code, title, means, remedy) in rows(language, "topics", 4):
        if macro in ("CODE", "CAUSE"):
            found[code] = (macro, code, "", title, means, remedy)
    for macro, (code, severity, title, means, remedy) in rows(language, "topics", 5):
        if macro in ("FINDING", "DIAGNOSTIC"):
            found[code] = (macro, code, severity, title, means, remedy)
    source = read("schema", f"topics_{language}.def")
    order = re.findall(r'^(?:CODE|CAUSE|FINDING|DIAGNOSTIC)\("([^"]+)"', source, flags=re.M)
    return order, found


def slots(text):
    return set(re.findall(r"\{([a-z_]+)(?:\?[^}]*)?\}", text))


def sources(*folders):
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True)):
            yield os.path.relpath(path, ROOT), read(path)


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, line):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(line)


def check_messages(tally):
    english, chinese = messages("en"), messages("zh")
    tally.check([key for key, _ in english] == [key for key, _ in chinese], "messages: keys or order differ")
    for language, table in (("en", english), ("zh", chinese)):
        keys = [key for key, _ in table]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            tally.check(False, f"messages_{language}: {key} is there twice")
    translated = dict(chinese)
    for key, text in english:
        other = translated.get(key, "")
        words = re.sub(r"\{[^}]*\}|\brank\b", "", text)
        tally.check(slots(text) == slots(other), f"{key}: arguments {slots(text) ^ slots(other)} differ")
        if re.search("[a-z]", words):
            tally.check(re.search("[\u4e00-\u9fff]", other), f"messages_zh: {key} is not Chinese")
    families = "|".join(sorted({key.split(".")[0] for key, _ in english}))
    named = set()
    for path, text in sources("analyzer", "parsers", "schema"):
        for key in re.findall(rf'"((?:{families})\.[a-z0-9.-]+)"', text):
            if key.endswith((".c", ".h", ".def")):
                continue
            named.add(key)
            tally.check(key in dict(english), f"{path} names the message {key}, which does not exist")
    for key, _ in english:
        tally.check(key in named, f"messages_en: nobody says {key}")


def check_topics(tally, schema):
    order, english = topics("en")
    other_order, chinese = topics("zh")
    tally.check(order == other_order, "topics: rows or order differ between the languages")
    for code in sorted({code for code in order if order.count(code) > 1}):
        tally.check(False, f"topics: {code} is there twice")
    for code in order:
        tally.check(code in english, f"topics_en: the row of {code} cannot be read")
        tally.check(code in chinese, f"topics_zh: the row of {code} cannot be read")
        if code not in english or code not in chinese:
            continue
        a, b = english[code], chinese[code]
        tally.check(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code), f"topics: {code} is not kebab-case")
        tally.check(a[:3] == b[:3], f"topics: {code} is of another kind or severity in Chinese")
        tally.check(bool(a[5]) == bool(b[5]), f"topics: {code} has a remedy in one language only")
        tally.check(a[2] in SEVERITIES if a[2] else a[0] in ("CODE", "CAUSE"), f"topics: severity of {code}")
        tally.check(a[3] and a[4] and not a[3].endswith("."), f"topics: title or text of {code}")
        tally.check(all(not part or part.endswith(".") for part in a[4:]), f"topics: {code} needs full stops")
    kinds = {kind: [c for c in order if english.get(c, [""])[0] == kind] for kind in ("CODE", "CAUSE")}
    tally.check(
        sorted(kinds["CODE"]) == sorted(schema["code"]["enum"]), "topics: codes are not those of the schema"
    )
    causes = schema["verdict"]["properties"]["cause"]["examples"]
    tally.check(sorted(kinds["CAUSE"]) == sorted(causes), "topics: causes are not those of the schema")
    emitted = {}
    for path, text in sources("analyzer", "parsers", "schema"):
        for emitter in EMITTERS:
            for code in re.findall(emitter + r'"([a-z0-9]+(?:-[a-z0-9]+)*)"', text):
                emitted.setdefault(code, path)
    for code, path in sorted(emitted.items()):
        known = code in english or code in INTERNAL
        tally.check(known, f"{path} emits {code}, which hangscope explain does not know")
    for code in order:
        if english[code][0] in ("FINDING", "DIAGNOSTIC"):
            tally.check(code in emitted, f"topics: nothing emits {code}")
    return english


def check_explain(tally, binary, english):
    for language in ("en", "zh"):
        command = [binary, "explain", "--list", "--json", "--lang", language]
        listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        # docs/rules.md has a test of its own
        shown = [row["code"] for row in listed if row["kind"] != "rule"]
        tally.check(shown == topics(language)[0], f"explain --list, {language}")
    for code in english:
        run = subprocess.run([binary, "explain", code], capture_output=True, check=False)
        text = re.sub(r"\s+", " ", run.stdout.decode())
        tally.check(english[code][3] in text, f"explain {code}: exit {run.returncode}")


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    schema = json.loads(read("docs", "verdict.schema.json"))
    tally = Tally()
    check_messages(tally)
    english = check_topics(tally, schema["$defs"])
    check_explain(tally, sys.argv[1], english)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
