#!/usr/bin/env python3
# ===- check_words.py - words that must not be in the tree -----------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Looks for text that holds on one machine or for one moment only.

Paths of a developer's machine and addresses of package hosts do not belong in
sources, tests or pages: they are wrong anywhere else. Source files without the
licence lines are reported too. Prints each place and exits with 1.
"""

import os
import re
import sys

# Written so that this file does not contain what it looks for.
FORBIDDEN = [
    (r"(?<![\w.$})/])/wor[k]\b(?!-)", "path of a machine"),
    (r"(?<![\w.$})/])/roo[t]\b", "path of a machine"),
    (r"(?<![\w.$})/])/hom[e]/", "path of a machine"),
    (r"(?<![\w.$})/])/tm[p]/", "path of a machine (tests have %t)"),
    (r"(?<![\w.$})/])/op[t]/", "path of a machine"),
    (r"\.\./share[d]\b", "path outside the project"),
    (r"deb[i]an\.org|ubunt[u]\.com|apt\.llv[m]\.org", "package host"),
    (r"pyp[i]\.org|pythonhoste[d]\.org", "package host"),
    (r"\bFIXM[E]\b|\bXX[X]\b|\bTOD[O]\b", "unfinished work"),
]
SKIPPED_FILES = {".git", "compile_commands.json"}
SKIPPED_FOLDERS = {".git", ".venv", "build", "__pycache__"}
SKIPPED_SUFFIXES = {".npz", ".npy", ".safetensors", ".bin", ".png", ".pyc"}
LICENSED_SUFFIXES = {".c", ".cpp", ".h", ".td", ".py", ".sh", ".cmake"}
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.splitext(name)[1] not in SKIPPED_SUFFIXES:
                if not os.path.islink(path) and name not in SKIPPED_FILES:
                    yield path


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    data = os.path.join(root, "test", "data")
    found = seen = 0
    for path in files(root):
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue  # Not text.
        seen += 1
        shown = os.path.relpath(path, root)
        if path.startswith(data + os.sep) or shown == "LICENSE":
            continue  # Other people's text.
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, reason in FORBIDDEN:
                match = re.search(pattern, line)
                if match:
                    print(
                        "%s:%d: '%s': %s" % (shown, number, match.group(), reason)
                    )
                    found += 1
        suffix = os.path.splitext(path)[1]
        if suffix in LICENSED_SUFFIXES and LICENCE not in text[:1000]:
            print("%s:1: no licence lines" % shown)
            found += 1
    if not seen:
        print("expected the source tree as argument, got no file in '%s'" % root)
    return 1 if found or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
